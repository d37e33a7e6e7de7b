/** Deflate streams of hostile files, by fflate, never beyond what may come out. */
import { Gunzip, Inflate } from "fflate";
import { ContentFault } from "../value.js";
import { crc32 } from "./crc32.js";
import { refusing } from "./tree.js";

/** Bytes that all streams of one query may expand to. */
export const EXPANDED_LIMIT = 256 * 1024 * 1024;
/** Compressed bytes taken at a time: at most 1,032 times as much comes out before it is counted. */
const SLICE = 16 * 1024;
/** A member of a gzip file ends with its sum and its length. */
const TRAILER = 8;

/** Counts what the streams of one query expand to. Throws `ContentFault` beyond 256 MiB. */
export class Expansion {
  private total = 0;

  add(bytes: number, what: string): void {
    this.total += bytes;
    if (this.total > EXPANDED_LIMIT)
      throw new ContentFault(`${what} expands to more than ${EXPANDED_LIMIT} bytes`);
  }
}

function slices(bytes: Uint8Array, take: (slice: Uint8Array, last: boolean) => void): void {
  for (let at = 0; at < bytes.length || at === 0; at += SLICE)
    take(bytes.subarray(at, at + SLICE), at + SLICE >= bytes.length);
}

/** Inflates a raw stream that must come to exactly `size` bytes. Throws `ContentFault`. */
export function inflateTo(bytes: Uint8Array, size: number, what: string, expansion: Expansion): Uint8Array {
  expansion.add(size, what);
  // What deflate can at most make of so many bytes: no memory is taken for a lie.
  if (size > bytes.length * 1_032 + 64)
    throw new ContentFault(`${what} says that it holds ${size} bytes, which its data cannot`);
  const out = new Uint8Array(size);
  let length = 0;
  const stream = new Inflate((chunk) => {
    if (length + chunk.length > size)
      throw new ContentFault(`${what} holds more than the ${size} bytes that it says`);
    out.set(chunk, length);
    length += chunk.length;
  });
  refusing(what, "a deflate stream", () => slices(bytes, (slice, last) => stream.push(slice, last)));
  if (length !== size) throw new ContentFault(`${what} holds ${length} bytes and says ${size}`);
  return out;
}

/** Expands a gzip file, all its members. Throws `ContentFault`, also for a wrong sum and for a file that is cut short. */
export function gunzip(bytes: Uint8Array, what: string, expansion: Expansion): Uint8Array {
  const chunks: Uint8Array[] = [];
  let sum = 0;
  let length = 0;
  const endMember = (end: number): void => {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const intact =
      end >= TRAILER && view.readUInt32LE(end - 8) === sum && view.readUInt32LE(end - 4) === length >>> 0;
    if (!intact) throw new ContentFault(`${what} is damaged or cut short: its sum does not fit`);
    sum = 0;
    length = 0;
  };
  const stream = new Gunzip((chunk) => {
    expansion.add(chunk.length, what);
    sum = crc32(chunk, sum);
    length += chunk.length;
    chunks.push(chunk);
  });
  stream.onmember = endMember;
  refusing(what, "gzip", () => {
    slices(bytes, (slice) => stream.push(slice, false));
    stream.push(new Uint8Array(), true);
  });
  endMember(bytes.length);
  return Buffer.concat(chunks);
}
