/**
 * Decodes payloads. Stricter than a general decoder, for files come from strangers: whatever two readers could take in two ways is
 * refused, lengths are believed only as far as there are bytes, and any name may be a field's, `__proto__` too.
 */
import { fromUtf8 } from "./text.js";
import { decodeExtension } from "./values.js";
import { readLimits } from "./version.js";

/** The value that the bytes hold, all of them. Throws an Error that says what is wrong. */
export function decodePayload(bytes: Uint8Array): unknown {
  const payload = new Payload(bytes);
  const value = payload.value(0);
  if (payload.left > 0) throw new Error(`${payload.left} bytes follow the value`);
  return value;
}

class Payload {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at;
  }

  /** The value that comes next; `depth` lists and maps are around it. */
  value(depth: number): unknown {
    const head = this.#number(1, "readUInt8");
    if (head < 0x80) return head;
    if (head >= 0xe0) return head - 0x100;
    if (head < 0x90) return this.#map(head & 0x0f, depth);
    if (head < 0xa0) return this.#list(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return Uint8Array.from(this.#take(this.#length(head - 0xc4)));
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#length(head - 0xc7));
      case 0xca:
        return this.#number(4, "readFloatBE");
      case 0xcb:
        return this.#number(8, "readDoubleBE");
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#length(head - 0xcc);
      case 0xcf:
        return exact(this.#take(8).readBigUInt64BE());
      case 0xd0:
        return this.#number(1, "readInt8");
      case 0xd1:
        return this.#number(2, "readInt16BE");
      case 0xd2:
        return this.#number(4, "readInt32BE");
      case 0xd3:
        return exact(this.#take(8).readBigInt64BE());
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (head - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#length(head - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#length(head - 0xdb), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#length(head - 0xdd), depth);
      default:
        throw new Error(`no value begins with byte ${head}`);
    }
  }

  #map(size: number, depth: number): Record<string, unknown> {
    this.#enter(size, size * 2, depth);
    const map: Record<string, unknown> = {};
    for (let entry = 0; entry < size; entry += 1) {
      const key = this.value(depth + 1);
      if (typeof key !== "string") throw new Error("a field's name is no text");
      if (Object.hasOwn(map, key)) throw new Error(`the field ${JSON.stringify(key)} is there twice`);
      const value = this.value(depth + 1);
      if (key === "__proto__")
        Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
      else map[key] = value;
    }
    return map;
  }

  #list(size: number, depth: number): unknown[] {
    this.#enter(size, size, depth);
    const list: unknown[] = [];
    for (let item = 0; item < size; item += 1) list.push(this.value(depth + 1));
    return list;
  }

  /** Each value takes a byte at least, so that a length beyond what is left is a lie. */
  #enter(size: number, values: number, depth: number): void {
    if (depth >= readLimits.depth) throw new Error(`it is nested deeper than ${readLimits.depth}`);
    if (size > readLimits.entries)
      throw new Error(`a list or map has more than ${readLimits.entries} entries`);
    if (values > this.left) throw new Error("it ends in the middle of a value");
  }

  #text(length: number): string {
    const text = fromUtf8(this.#take(length));
    if (text === null) throw new Error("a text is not UTF-8");
    return text;
  }

  #extension(length: number): unknown {
    const type = this.#number(1, "readInt8");
    return decodeExtension(type, this.#take(length));
  }

  /** Of 1, 2 or 4 bytes. */
  #length(size: number): number {
    return this.#take(1 << size).readUIntBE(0, 1 << size);
  }

  #number(
    size: number,
    read: "readUInt8" | "readInt8" | "readInt16BE" | "readInt32BE" | "readFloatBE" | "readDoubleBE",
  ): number {
    return this.#take(size)[read]();
  }

  #take(length: number): Buffer {
    if (length > this.left) throw new Error("it ends in the middle of a value");
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }
}

function exact(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error(`${value} is beyond 2^53-1`);
  return number;
}
