/** Content beside the bundles. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { fromUtf16, fromUtf8 } from "../format/text.js";
import type { BlobRef } from "../format/values.js";
import { readLimits } from "../format/version.js";
import { decompress, zstdReady } from "../format/zstd.js";
import { blobPath } from "../write/blobs.js";

/** The folder that has the blobs: the one above the bundle's, where recorders put them, or the bundle's own. */
export function folderOf(path: string, { folder }: { folder?: string } = {}): string {
  if (folder !== undefined) return folder;
  const own = dirname(resolve(path));
  const above = dirname(own);
  return !existsSync(join(above, "blobs")) && existsSync(join(own, "blobs")) ? own : above;
}

/** The content of a blob, checked against its hash. Rejects with `blob_missing`, `bad_bundle` or `too_large`. */
export async function readBlob(folder: string, ref: BlobRef): Promise<string | Uint8Array> {
  const path = blobPath(folder, ref.sha256);
  if (ref.bytes > readLimits.blobBytes)
    throw new ShinkenError(
      "too_large",
      `the content ${ref.sha256} has ${ref.bytes} bytes; ${readLimits.blobBytes} are read`,
      { path },
    );
  const content = await unpacked(path, ref.bytes);
  if (createHash("sha256").update(content).digest("hex") !== ref.sha256)
    throw damaged(path, "its content has another hash");
  if (ref.kind === "bytes") return Uint8Array.from(content);
  const text = ref.kind === "text" ? fromUtf8(content) : fromUtf16(content);
  if (text === null) throw damaged(path, `it is no text in ${ref.kind === "text" ? "UTF-8" : "UTF-16"}`);
  return text;
}

async function unpacked(path: string, bytes: number): Promise<Uint8Array> {
  await zstdReady;
  let packed: Buffer;
  try {
    const found = await stat(path);
    if (!found.isFile()) throw new Error("it is no regular file");
    // More than compression ever adds: nothing is read that cannot be it.
    if (found.size > bytes + (bytes >> 7) + 1024) throw damaged(path, "it is too large for its content");
    packed = await readFile(path);
  } catch (cause) {
    if (cause instanceof ShinkenError) throw cause;
    throw new ShinkenError("blob_missing", `the content of an event is not at ${path}`, {
      path,
      suggestion: "move bundles together with their blobs folder",
      cause,
    });
  }
  try {
    return decompress(packed, bytes, readLimits.blobBytes);
  } catch (cause) {
    throw damaged(path, (cause as Error).message, cause);
  }
}

function damaged(path: string, why: string, cause?: unknown): ShinkenError {
  return new ShinkenError("bad_bundle", `${path} is damaged: ${why}`, { path, cause });
}
