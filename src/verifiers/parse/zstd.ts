/**
 * Zstandard (RFC 8878) of hostile files, by the reference library in WebAssembly. It wants to know ahead how much will come
 * out, so the frames are walked first: what they say of themselves bounds it before any memory is taken.
 *
 *     frame: magic 4, descriptor 1, window 0-1, dictionary id 0-4, content size 0-8, blocks, checksum 0-4
 *     block: 3 bytes (last 1 bit, type 2, size 21), data
 */
import { createRequire } from "node:module";
import { ContentFault } from "../value.js";
import { EXPANDED_LIMIT, type Expansion } from "./expand.js";

interface Library {
  isLoaded: Promise<unknown>;
  /** Throws where more than `size` bytes come out, and for what is malformed. */
  decompress(bytes: Uint8Array, size: number): Uint8Array;
}

const MAGIC = 0xfd2fb528;
/** Frames of anything else, to be passed over: 16 magics. */
const SKIPPED_MAGIC = 0x184d2a50;
/** Bytes that one block can hold. */
const BLOCK_LIMIT = 128 * 1024;
/** Blocks and frames of one file: some take 4 bytes and give one. */
const PART_LIMIT = 1_000_000;

export function isZstd(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) === MAGIC;
}

/** Expands a file, all its frames. Rejects with `ContentFault`, also for a wrong sum and for a file that is cut short. */
export async function unzstd(bytes: Uint8Array, what: string, expansion: Expansion): Promise<Uint8Array> {
  const most = contentBound(bytes, what);
  expansion.add(most, what);
  if (most === 0) return new Uint8Array();
  const library = createRequire(import.meta.url)("@foxglove/wasm-zstd") as Library;
  await library.isLoaded;
  try {
    return library.decompress(bytes, most);
  } catch (error) {
    // Its one complaint; anything else is its own fault, not the file's.
    if (!(error instanceof Error) || error.message !== "Error during decompression") throw error;
    throw new ContentFault(`${what} is damaged: it is no sound zstd`);
  }
}

/** The most bytes that a file's frames can come to; exactly that many where all of them say their size. */
function contentBound(bytes: Uint8Array, what: string): number {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const need = (end: number): void => {
    if (end > data.length) throw new ContentFault(`${what} is cut short`);
  };
  let at = 0;
  let total = 0;
  let parts = 0;
  const count = (): void => {
    if (++parts > PART_LIMIT) throw new ContentFault(`${what} has more than ${PART_LIMIT} frames and blocks`);
  };
  while (at < data.length) {
    count();
    need(at + 8);
    const magic = data.readUInt32LE(at);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPED_MAGIC) {
      at += 8 + data.readUInt32LE(at + 4);
      need(at);
      continue;
    }
    if (magic !== MAGIC) throw new ContentFault(`${what} goes on after its end`);
    const header = frameHeader(data, at + 4, what);
    at = header.end;
    need(at);
    let inBlocks = 0;
    for (let last = false; !last; ) {
      count();
      need(at + 3);
      const block = data.readUIntLE(at, 3);
      last = (block & 1) === 1;
      const type = (block >> 1) & 3;
      const size = block >> 3;
      // One byte that is repeated, or `size` bytes of data; a compressed block does not say what it comes to.
      at += 3 + (type === 1 ? 1 : size);
      need(at);
      inBlocks += type === 2 ? BLOCK_LIMIT : size;
    }
    at += header.checksum ? 4 : 0;
    need(at);
    if (header.size !== undefined && header.size > inBlocks)
      throw new ContentFault(`${what} says that it holds ${header.size} bytes, which its data cannot`);
    total += header.size ?? inBlocks;
    // A frame that says too much is refused before the next is looked at.
    if (total > EXPANDED_LIMIT) return total;
  }
  return total;
}

interface FrameHeader {
  /** Where its blocks begin. */
  end: number;
  /** Bytes of content, where it says so. */
  size: number | undefined;
  checksum: boolean;
}

function frameHeader(data: Buffer, at: number, what: string): FrameHeader {
  const descriptor = data[at] ?? 0;
  const single = (descriptor & 0x20) !== 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const sizes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  if (dictionary !== 0) throw new ContentFault(`${what} needs a dictionary that is not there`);
  const sizeAt = at + 1 + (single ? 0 : 1);
  const end = sizeAt + sizes;
  if (end > data.length) throw new ContentFault(`${what} is cut short`);
  const size =
    sizes === 0
      ? undefined
      : sizes === 8
        ? Number(data.readBigUInt64LE(sizeAt))
        : data.readUIntLE(sizeAt, sizes) + (sizes === 2 ? 256 : 0);
  return { end, size, checksum: (descriptor & 4) !== 0 };
}
