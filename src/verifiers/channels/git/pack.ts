/**
 * Packs of objects. Formats: https://git-scm.com/docs/gitformat-pack.
 *
 *     index, version 2: "\377tOc" and 2; for each first byte how many names are not above it; names of 20 bytes, in order; checksums of
 *         4 bytes; offsets of 4 bytes, of which those with the highest bit point into a table of 8 bytes each
 *     entry: kind and size in a varint; for a delta where its base is; a zlib stream
 *
 * Both files come from a hostile guest: every number is checked before it is used.
 */
import { inflateSync } from "node:zlib";
import { ContentFault } from "../../value.js";

/** Bytes of one object, and of a delta. */
export const OBJECT_LIMIT = 64 * 1024 * 1024;
/** Deltas upon deltas; git itself makes at most 4,095. */
const CHAIN_LIMIT = 4_096;

const KINDS: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const OFFSET_DELTA = 6;
const NAME_DELTA = 7;

const INDEX_MAGIC = 0xff744f63;
const INDEX_NAMES = 8 + 256 * 4;

export interface RawObject {
  kind: string;
  bytes: Uint8Array;
}

/** Names and offsets of a pack's objects. Throws `ContentFault` for an index that is not of version 2, or cut. */
export function readPackIndex(index: Uint8Array, what: string): Map<string, number> {
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  const cut = new ContentFault(`${what} is damaged`);
  if (index.length < INDEX_NAMES || view.getUint32(0) !== INDEX_MAGIC || view.getUint32(4) !== 2)
    throw new ContentFault(`${what} is no pack index of version 2`);
  const count = view.getUint32(INDEX_NAMES - 4);
  const offsets = INDEX_NAMES + count * 24;
  const large = offsets + count * 4;
  if (index.length < large) throw cut;
  const found = new Map<string, number>();
  for (let at = 0; at < count; at++) {
    const name = Buffer.from(index.subarray(INDEX_NAMES + at * 20, INDEX_NAMES + at * 20 + 20)).toString(
      "hex",
    );
    let offset = view.getUint32(offsets + at * 4);
    if (offset >= 0x80000000) {
      const place = large + (offset - 0x80000000) * 8;
      if (place + 8 > index.length) throw cut;
      offset = Number(view.getBigUint64(place));
    }
    found.set(name, offset);
  }
  return found;
}

/** Inflates a zlib stream of exactly `size` bytes; what follows the stream is left alone. */
export function inflateExactly(bytes: Uint8Array, size: number, what: string): Uint8Array {
  if (size > OBJECT_LIMIT) throw new ContentFault(`${what} is larger than ${OBJECT_LIMIT} bytes`);
  let inflated: Uint8Array;
  try {
    inflated = inflateSync(bytes, { maxOutputLength: Math.max(1, size) });
  } catch (error) {
    throw new ContentFault(
      `${what} is damaged: ${error instanceof Error ? error.message : "no zlib stream"}`,
    );
  }
  if (inflated.length !== size)
    throw new ContentFault(`${what} is damaged: ${inflated.length} bytes instead of ${size}`);
  return inflated;
}

/** Reads numbers from the front of bytes. */
class Reader {
  at: number;
  private readonly bytes: Uint8Array;
  private readonly what: string;

  constructor(bytes: Uint8Array, at: number, what: string) {
    this.bytes = bytes;
    this.at = at;
    this.what = what;
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new ContentFault(`${this.what} is damaged: it ends too early`);
    return value;
  }

  take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.bytes.length) throw new ContentFault(`${this.what} is damaged: it ends too early`);
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  /** Seven bits a byte, the lowest first, after the `bits` of `value` that are known. */
  size(value = 0, bits = 0, more = true): number {
    let result = value;
    let scale = 2 ** bits;
    for (let goes = more; goes; scale *= 128) {
      const byte = this.byte();
      result += (byte & 0x7f) * scale;
      if (result > Number.MAX_SAFE_INTEGER)
        throw new ContentFault(`${this.what} is damaged: a size is too large`);
      goes = byte >= 0x80;
    }
    return result;
  }

  /** How far back the base of a delta lies. */
  distance(): number {
    let byte = this.byte();
    let result = byte & 0x7f;
    while (byte >= 0x80) {
      byte = this.byte();
      result = (result + 1) * 128 + (byte & 0x7f);
      if (result > Number.MAX_SAFE_INTEGER)
        throw new ContentFault(`${this.what} is damaged: a distance is too large`);
    }
    return result;
  }
}

/** Applies a delta: copies of parts of the base, and bytes of its own. */
export function applyDelta(base: Uint8Array, delta: Uint8Array, what: string): Uint8Array {
  const reader = new Reader(delta, 0, what);
  if (reader.size() !== base.length) throw new ContentFault(`${what} is damaged: its base has another size`);
  const size = reader.size();
  if (size > OBJECT_LIMIT) throw new ContentFault(`${what} is larger than ${OBJECT_LIMIT} bytes`);
  const result = new Uint8Array(size);
  let at = 0;
  const put = (part: Uint8Array): void => {
    if (at + part.length > size) throw new ContentFault(`${what} is damaged: its delta is too long`);
    result.set(part, at);
    at += part.length;
  };
  while (!reader.done) {
    const code = reader.byte();
    if (code === 0) throw new ContentFault(`${what} is damaged: an unknown step of a delta`);
    if (code < 0x80) {
      put(reader.take(code));
      continue;
    }
    let offset = 0;
    let length = 0;
    for (let bit = 0; bit < 4; bit++) if (code & (1 << bit)) offset += reader.byte() * 2 ** (8 * bit);
    for (let bit = 0; bit < 3; bit++) if (code & (0x10 << bit)) length += reader.byte() * 2 ** (8 * bit);
    if (length === 0) length = 0x10000;
    if (offset + length > base.length)
      throw new ContentFault(`${what} is damaged: its delta leaves its base`);
    put(base.subarray(offset, offset + length));
  }
  if (at !== size) throw new ContentFault(`${what} is damaged: its delta is too short`);
  return result;
}

/** The object at an offset of a pack; `find` reads a base by its name. */
export function readPacked(
  pack: Uint8Array,
  offset: number,
  find: (name: string) => RawObject,
  what: string,
): RawObject {
  const deltas: Uint8Array[] = [];
  let at = offset;
  for (;;) {
    if (deltas.length > CHAIN_LIMIT)
      throw new ContentFault(`${what} is a delta upon more than ${CHAIN_LIMIT} others`);
    const reader = new Reader(pack, at, what);
    const first = reader.byte();
    const type = (first >> 4) & 7;
    const size = reader.size(first & 0x0f, 4, first >= 0x80);
    const kind = KINDS[type];
    let base: RawObject | undefined;
    let next = at;
    if (type === OFFSET_DELTA) {
      next = at - reader.distance();
      if (next >= at || next < 0)
        throw new ContentFault(`${what} is damaged: the base of a delta is not before it`);
    } else if (type === NAME_DELTA) base = find(Buffer.from(reader.take(20)).toString("hex"));
    else if (kind === undefined) throw new ContentFault(`${what} is damaged: an entry of kind ${type}`);
    const bytes = inflateExactly(pack.subarray(reader.at), size, what);
    if (kind !== undefined) base = { kind, bytes };
    else deltas.push(bytes);
    if (base !== undefined) {
      const whole = deltas.reduceRight((result, delta) => applyDelta(result, delta, what), base.bytes);
      return { kind: base.kind, bytes: whole };
    }
    at = next;
  }
}
