import { createHash } from "node:crypto";
import { statfsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { isDiskFull } from "../errors/disk.js";
import { ShinkenError } from "../errors/index.js";

/** SHA-256 in hex and size of a file, read in pieces. */
export async function sha256OfFile(path: string): Promise<{ sha256: string; size: number }> {
  const hash = createHash("sha256");
  let size = 0;
  const handle = await open(path, "r");
  try {
    const buffer = Buffer.alloc(1 << 20);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest("hex"), size };
}

export function sha256(data: Uint8Array | string): string {
  return createHash("sha256").update(data).digest("hex");
}

/** An error with the code `disk_full` that says what to do. */
export function diskFull(what: string, cause?: unknown): ShinkenError {
  return new ShinkenError("disk_full", `the image cache's disk is full: ${what}`, {
    suggestion: "free some space, or point SHINKEN_CACHE to another disk; a build needs about 1.5 GB",
    cause,
  });
}

/** Throws `disk_full` unless a folder's disk has room for that many bytes more. `what` begins the message. */
export function requireSpace(folder: string, bytes: number, what: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < bytes) throw diskFull(`${what} ${Math.ceil(bytes / 1e6)} MB in ${folder}`);
}

/** Gives a failure of the file system its code: a full disk is `disk_full`, errors of ours stay what they are. */
export function buildFailure(error: unknown): ShinkenError {
  if (error instanceof ShinkenError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error)) return diskFull(message, error);
  return new ShinkenError("image_build_failed", message, { cause: error });
}

/** Bytes gathered before they are written. */
const batchBytes = 4 << 20;

/** Writes a file in large pieces; `close` must be called on every path. */
export class BatchWriter {
  private readonly handle: FileHandle;
  private pending: Uint8Array[] = [];
  private size = 0;

  private constructor(handle: FileHandle) {
    this.handle = handle;
  }

  static async create(path: string): Promise<BatchWriter> {
    return new BatchWriter(await open(path, "wx"));
  }

  async write(piece: Uint8Array): Promise<void> {
    this.pending.push(piece);
    this.size += piece.length;
    if (this.size >= batchBytes) await this.flush();
  }

  async flush(): Promise<void> {
    const batch = Buffer.concat(this.pending);
    this.pending = [];
    this.size = 0;
    let done = 0;
    while (done < batch.length) done += (await this.handle.write(batch, done)).bytesWritten;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}
