/** Zstandard, in WebAssembly: Node 20 has none of its own. */
import { createRequire } from "node:module";
import { ShinkenError } from "../../errors/index.js";

interface Zstd {
  isLoaded: Promise<unknown>;
  compress(bytes: Uint8Array, level?: number): Uint8Array;
  decompress(bytes: Uint8Array, size: number): Uint8Array;
}

const zstd = createRequire(import.meta.url)("@foxglove/wasm-zstd") as Zstd;

/** Wait for this before anything else here. */
export const zstdReady: Promise<unknown> = zstd.isLoaded;

/** Level 3 costs about what hashing does; episodes are small. */
const level = 3;

export function compress(bytes: Uint8Array): Uint8Array {
  return zstd.compress(bytes, level);
}

/** Unpacks a frame that must give exactly `size` bytes. @throws ShinkenError `bad_bundle`, `too_large` beyond `limit`. */
export function decompress(bytes: Uint8Array, size: number, limit: number): Uint8Array {
  if (size > limit)
    throw new ShinkenError(
      "too_large",
      `a compressed part says it unpacks to ${size} bytes; ${limit} are read`,
    );
  if (size === 0) return new Uint8Array(0);
  let unpacked: Uint8Array;
  try {
    unpacked = zstd.decompress(bytes, size);
  } catch (cause) {
    throw new ShinkenError("bad_bundle", "a compressed part cannot be unpacked", { cause });
  }
  if (unpacked.byteLength !== size)
    throw new ShinkenError(
      "bad_bundle",
      `a compressed part unpacks to ${unpacked.byteLength} bytes, not ${size}`,
    );
  return unpacked;
}
