/**
 * Binary property lists.
 *
 *     "bplist00" | objects | offset table | trailer of 32 bytes:
 *     6 unused, size of an offset, size of a reference, 8: objects, 8: top object, 8: place of the offset table
 *
 * Objects refer to each other by number, so a small file can be a circle or expand without end: both are met by the budget, which
 * counts every object as often as it is reached, and by the depth. (The libraries at hand go down without either.)
 */
import type { Json } from "../../assertions/schema.js";
import { exactInteger, setKey, TreeBudget } from "../../parse/tree.js";
import { ContentFault } from "../../value.js";

export const BINARY_PLIST = "bplist00";
const TRAILER = 32;
/** Seconds from 1970 to 2001, from which dates count. */
const EPOCH = 978_307_200;
/** Milliseconds that a Date can hold on either side. */
const DATE_RANGE = 8.64e15;

/** Parses the whole list. Dates become ISO text, data `{data: base64}`, an archiver's reference `{uid: number}`. Throws `ContentFault`. */
export function parseBinaryPlist(bytes: Uint8Array, what: string): Json {
  return new Reader(bytes, what).top();
}

class Reader {
  private readonly bytes: Buffer;
  private readonly what: string;
  private readonly budget: TreeBudget;
  private readonly offsetSize: number;
  private readonly referenceSize: number;
  private readonly count: number;
  private readonly first: number;
  private readonly table: number;

  constructor(bytes: Uint8Array, what: string) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.what = what;
    this.budget = new TreeBudget(what);
    const trailer = bytes.length - TRAILER;
    if (trailer < BINARY_PLIST.length) throw this.fault("is cut short");
    this.offsetSize = this.bytes.readUInt8(trailer + 6);
    this.referenceSize = this.bytes.readUInt8(trailer + 7);
    this.count = this.word(trailer + 8);
    this.first = this.word(trailer + 16);
    this.table = this.word(trailer + 24);
    for (const size of [this.offsetSize, this.referenceSize])
      if (size < 1 || size > 8) throw this.fault(`has references of ${size} bytes`);
    if (this.table + this.count * this.offsetSize > trailer) throw this.fault("has objects beyond its end");
  }

  top(): Json {
    return this.object(this.first, 0);
  }

  private fault(why: string): ContentFault {
    return new ContentFault(`${this.what}: the binary property list ${why}`);
  }

  /** An unsigned big-endian number of up to 8 bytes. */
  private unsigned(at: number, size: number): number {
    let value = 0n;
    for (const byte of this.slice(at, size)) value = (value << 8n) | BigInt(byte);
    return exactInteger(value, this.what);
  }

  private word(at: number): number {
    return this.unsigned(at, 8);
  }

  private slice(at: number, size: number): Buffer {
    if (at < 0 || size < 0 || at + size > this.bytes.length) throw this.fault("points beyond its end");
    return this.bytes.subarray(at, at + size);
  }

  private object(number: number, depth: number): Json {
    this.budget.node(depth);
    if (number >= this.count) throw this.fault(`has no object ${number}`);
    const at = this.unsigned(this.table + number * this.offsetSize, this.offsetSize);
    const marker = this.unsigned(at, 1);
    const low = marker & 0x0f;
    switch (marker >> 4) {
      case 0x0:
        return this.constant(marker);
      case 0x1:
        return this.integer(at + 1, 2 ** low);
      case 0x2:
        return this.real(at + 1, 2 ** low);
      case 0x3:
        return this.date(at + 1);
      case 0x8:
        return { uid: this.unsigned(at + 1, low + 1) };
      default:
        return this.sized(marker >> 4, at, low, depth);
    }
  }

  private constant(marker: number): Json {
    if (marker === 0x00) return null;
    if (marker === 0x08 || marker === 0x09) return marker === 0x09;
    throw this.fault(`has an object of the unknown kind ${marker}`);
  }

  /** Up to 4 bytes are unsigned; 8 and 16 are signed. */
  private integer(at: number, size: number): number {
    if (size > 16) throw this.fault(`has an integer of ${size} bytes`);
    let value = 0n;
    for (const byte of this.slice(at, size)) value = (value << 8n) | BigInt(byte);
    return exactInteger(size >= 8 ? BigInt.asIntN(size * 8, value) : value, this.what);
  }

  private real(at: number, size: number): number {
    if (size !== 4 && size !== 8) throw this.fault(`has a real of ${size} bytes`);
    const bytes = this.slice(at, size);
    const value = size === 4 ? bytes.readFloatBE() : bytes.readDoubleBE();
    if (!Number.isFinite(value)) throw this.fault(`holds ${value}, which JSON has not`);
    return value;
  }

  private date(at: number): string {
    const milliseconds = (this.slice(at, 8).readDoubleBE() + EPOCH) * 1_000;
    if (!(Math.abs(milliseconds) <= DATE_RANGE)) throw this.fault("holds a date beyond all calendars");
    return new Date(milliseconds).toISOString().replace(".000Z", "Z");
  }

  /** Data, texts and collections: their length is in the marker, or in an integer that follows it. */
  private sized(kind: number, at: number, low: number, depth: number): Json {
    let length = low;
    let start = at + 1;
    if (low === 0x0f) {
      const marker = this.unsigned(start, 1);
      if (marker >> 4 !== 0x1 || (marker & 0x0f) > 3) throw this.fault("has a length that is no integer");
      const size = 2 ** (marker & 0x0f);
      length = this.unsigned(start + 1, size);
      start += 1 + size;
    }
    switch (kind) {
      case 0x4:
        return { data: this.budget.text(this.slice(start, length).toString("base64")) };
      case 0x5:
        return this.budget.text(this.slice(start, length).toString("latin1"));
      case 0x6:
        return this.budget.text(
          Buffer.from(this.slice(start, length * 2))
            .swap16()
            .toString("utf16le"),
        );
      case 0xa:
      case 0xc:
        return this.references(start, length).map((item) => this.object(item, depth + 1));
      case 0xd:
        return this.dict(start, length, depth);
      default:
        throw this.fault(`has an object of the unknown kind ${kind << 4}`);
    }
  }

  private references(at: number, count: number): number[] {
    const size = this.referenceSize;
    this.slice(at, count * size);
    return Array.from({ length: count }, (_, index) => this.unsigned(at + index * size, size));
  }

  private dict(at: number, count: number, depth: number): Json {
    const keys = this.references(at, count);
    const values = this.references(at + count * this.referenceSize, count);
    const made: { [key: string]: Json } = {};
    for (const [index, reference] of keys.entries()) {
      const key = this.object(reference, depth + 1);
      if (typeof key !== "string") throw this.fault("has a key that is no text");
      if (Object.hasOwn(made, key)) throw this.fault(`has the key ${JSON.stringify(key)} twice`);
      setKey(made, key, this.object(values[index] ?? this.count, depth + 1));
    }
    return made;
  }
}
