/** A look at a PNG before it is decoded: its data must not inflate to more than its pixels need. */
import { inflateSync } from "node:zlib";
import type { ImageHeader } from "./header.js";

const SIGNATURE = 8;
/** Length, type and checksum of a chunk. */
const CHUNK_FRAME = 12;
/** Interlaced pictures have a filter byte for each row of each of the seven passes. */
const PASSES = 7;

/** Throws an error for more data than the header allows, or none. */
export function refusePngBomb(bytes: Uint8Array, { width, height }: ImageHeader): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  for (let at = SIGNATURE; at + CHUNK_FRAME <= bytes.length; ) {
    const length = view.getUint32(at);
    if (view.getUint32(at + 4) === 0x49444154) parts.push(bytes.subarray(at + 8, at + 8 + length));
    at += length + CHUNK_FRAME;
  }
  // At most four samples of two bytes.
  const most = (width * 8 + PASSES) * (height + PASSES);
  inflateSync(Buffer.concat(parts), { maxOutputLength: most });
}
