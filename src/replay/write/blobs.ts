/** Content beside the bundles: `blobs/ab/HASH`, each content once, whichever episode it came from. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compress } from "../format/zstd.js";

/** Where the blob of a hash lies in a folder of bundles. */
export function blobPath(folder: string, sha256: string): string {
  return join(folder, "blobs", sha256.slice(0, 2), sha256);
}

export class BlobStore {
  readonly #folder: string;
  /** Seen in this process: most repeats come soon. */
  readonly #seen = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps the content, as a Zstandard frame; gives its SHA-256 in hex. Throws what the file system says. */
  put(content: Uint8Array): string {
    const sha256 = createHash("sha256").update(content).digest("hex");
    if (this.#seen.has(sha256)) return sha256;
    const path = blobPath(this.#folder, sha256);
    if (!existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true });
      const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
      try {
        writeFileSync(temporary, compress(content), { mode: 0o600, flush: true });
        renameSync(temporary, path);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    }
    if (this.#seen.size >= seenAtMost) this.#seen.clear();
    this.#seen.add(sha256);
    return sha256;
  }
}

const seenAtMost = 65_536;
