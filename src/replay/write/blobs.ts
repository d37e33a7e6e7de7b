/** Content beside the bundles: `blobs/ab/HASH`, each content once, whichever episode it came from. */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compress } from "../format/zstd.js";
import { syncPath } from "./durable.js";

/** Where the blob of a hash lies in a folder of bundles. */
export function blobPath(folder: string, sha256: string): string {
  return join(folder, "blobs", sha256.slice(0, 2), sha256);
}

/** A blob that was used so recently is not removed by anybody, though no index may name it yet. Milliseconds. */
export const blobGraceMs = 3_600_000;

/** How long this process takes for granted that a blob is there; far less than the grace. Milliseconds. */
const believedMs = 300_000;

export class BlobStore {
  readonly #folder: string;
  /** When this process made or touched a blob: most repeats come soon. */
  readonly #seen = new Map<string, number>();
  /** Folders with names that the disk may not have yet. */
  #fresh = new Set<string>();
  #syncing: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps the content, as a Zstandard frame; gives its SHA-256 in hex. Throws what the file system says. */
  put(content: Uint8Array): string {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const now = Date.now();
    if (now - (this.#seen.get(sha256) ?? 0) < believedMs) return sha256;
    const path = blobPath(this.#folder, sha256);
    if (!touch(path, now)) {
      const made = mkdirSync(dirname(path), { recursive: true });
      const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
      try {
        writeFileSync(temporary, compress(content), { mode: 0o600, flush: true });
        renameSync(temporary, path);
        this.#fresh.add(dirname(path));
        // It may have made the folder of all content, too.
        if (made !== undefined) this.#fresh.add(dirname(dirname(path))).add(this.#folder);
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    }
    if (this.#seen.size >= seenAtMost) this.#seen.clear();
    this.#seen.set(sha256, now);
    return sha256;
  }

  /** Settles when the disk has all content so far under its names. Rejects with what the file system says. */
  sync(): Promise<void> {
    const folders = this.#fresh;
    this.#fresh = new Set();
    // Whoever comes meanwhile may refer to content that waits here.
    const before = this.#syncing;
    const syncing = (async () => {
      await Promise.all([before, ...[...folders].map(syncPath)]);
    })();
    this.#syncing = syncing.catch(() => {
      for (const folder of folders) this.#fresh.add(folder);
    });
    return syncing;
  }
}

/** Says that the blob is used. False if it is not there. */
function touch(path: string, now: number): boolean {
  try {
    utimesSync(path, now / 1_000, now / 1_000);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

const seenAtMost = 65_536;
