import { open } from "node:fs/promises";
import { ShinkenError } from "../errors/index.js";
import { sha256 } from "./files.js";

/** Linux, fs/erofs/erofs_fs.h: the superblock stands at 1024. */
const superblockOffset = 1024;
const magic = 0xe0f5e1e2;
const blockBitsOffset = 12;
const blocksOffset = 36;
const headBytes = 4096;

/**
 * Checks the file system that a finishing boot left on its disk, and cuts the disk to its length. `headSha256` is what
 * the guest read back from the first 4096 bytes. Returns the length in bytes. Throws `image_build_failed`.
 */
export async function trimErofs(path: string, headSha256: string): Promise<number> {
  const handle = await open(path, "r+");
  try {
    const head = Buffer.alloc(headBytes);
    const { bytesRead } = await handle.read(head, 0, headBytes, 0);
    const diskBytes = (await handle.stat()).size;
    const fault = (why: string): ShinkenError =>
      new ShinkenError("image_build_failed", `the finished root is not usable: ${why}`);
    if (bytesRead < headBytes || head.readUInt32LE(superblockOffset) !== magic)
      throw fault("no erofs superblock");
    if (sha256(head) !== headSha256) throw fault("the disk does not hold what the guest wrote");
    const blockBits = head.readUInt8(superblockOffset + blockBitsOffset);
    if (blockBits !== 12) throw fault("its blocks are not 4096 bytes");
    const length = head.readUInt32LE(superblockOffset + blocksOffset) * 2 ** blockBits;
    if (length < headBytes || length > diskBytes) throw fault("its length lies outside the disk");
    await handle.truncate(length);
    await handle.sync();
    return length;
  } finally {
    await handle.close();
  }
}
