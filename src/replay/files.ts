/** Bundles by the names that people give: files, and folders with bundles in them. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../errors/index.js";

export const bundleEnding = ".skn";

/**
 * Every bundle named, or lying in a folder named, each once, in order of their paths within a folder. Rejects with `bad_request` for
 * what is not there, and for a folder without bundles.
 */
export async function bundleFiles(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const files = await filesAt(path);
    if (files.length === 0)
      throw new ShinkenError("bad_request", `${path} holds no bundles (${bundleEnding})`, { path });
    for (const file of files) found.add(file);
  }
  return [...found];
}

/** The one file, or the bundles below a folder. Rejects with `bad_request` for neither. */
export async function filesAt(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
  } catch (cause) {
    throw new ShinkenError("bad_request", `${path}: ${(cause as Error).message}`, { path, cause });
  }
  return bundlesIn(path);
}

/** Paths of the bundles below a folder, sorted; none is fine. Rejects with `bad_request` where there is no such folder. */
export async function bundlesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && entry.name.endsWith(bundleEnding))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch (cause) {
    throw new ShinkenError("bad_request", `${folder}: ${(cause as Error).message}`, { path: folder, cause });
  }
}
