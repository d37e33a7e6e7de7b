/** What makes names last: a file that is on disk is lost with the power all the same while the folder that names it is not. */
import { open } from "node:fs/promises";

/** Waits until the disk has the folder's names, or the file's content. Off the caller's thread. Rejects with what the file system says. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
