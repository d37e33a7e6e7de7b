/**
 * Walks a msgpack message without building anything, and refuses what a decoder would let pass in silence: numbers
 * beyond 2^53-1, duplicate keys, NaN, bytes after the end, bad UTF-8, and nesting or sizes
 * beyond the limits. What it accepts, an ordinary decoder decodes without loss.
 * Format: https://github.com/msgpack/msgpack/blob/master/spec.md
 */
import { Buffer, isUtf8 } from "node:buffer";
import { ShinkenError } from "../errors/index.js";
import type { WireLimits } from "./limits.js";
import { formatPath } from "./path.js";

/** Up to so many entries, keys are compared pairwise; a set is made beyond. */
const smallMap = 12;

const largest = BigInt(Number.MAX_SAFE_INTEGER);

/** Throws `bad_message` or `too_large`, with the path of the fault. */
export function scanMsgpack(bytes: Uint8Array, limits: WireLimits): void {
  new Scan(bytes, limits).message();
}

class Scan {
  private readonly bytes: Uint8Array;
  private readonly limits: WireLimits;
  private readonly view: DataView;
  private readonly path: (string | number)[] = [];
  private at = 0;
  private values = 0;

  constructor(bytes: Uint8Array, limits: WireLimits) {
    this.bytes = bytes;
    this.limits = limits;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  message(): void {
    this.value(0);
    if (this.at !== this.bytes.length) {
      this.refuse(`${this.bytes.length - this.at} bytes follow the end of the message`);
    }
  }

  private value(depth: number): void {
    if (++this.values > this.limits.maxValues) {
      this.refuse(`the message holds more than ${this.limits.maxValues} values`, "too_large");
    }
    const head = this.byte();
    if (head <= 0x7f || head >= 0xe0) return;
    if (head <= 0x8f) {
      this.map(head & 0x0f, depth);
      return;
    }
    if (head <= 0x9f) {
      this.array(head & 0x0f, depth);
      return;
    }
    if (head <= 0xbf) {
      this.string(head & 0x1f);
      return;
    }
    switch (head) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        break;
      case 0xca:
        this.float(this.view.getFloat32(this.advance(4)));
        break;
      case 0xcb:
        this.float(this.view.getFloat64(this.advance(8)));
        break;
      case 0xcc:
      case 0xd0:
        this.skip(1);
        break;
      case 0xcd:
      case 0xd1:
        this.skip(2);
        break;
      case 0xce:
      case 0xd2:
        this.skip(4);
        break;
      case 0xcf:
        if (this.view.getBigUint64(this.advance(8)) > largest) this.refuse("the number is beyond 2^53-1");
        break;
      case 0xd3: {
        const value = this.view.getBigInt64(this.advance(8));
        if (value > largest || value < -largest) this.refuse("the number is beyond 2^53-1");
        break;
      }
      case 0xd9:
        this.string(this.byte());
        break;
      case 0xda:
        this.string(this.unsigned(2));
        break;
      case 0xdb:
        this.string(this.unsigned(4));
        break;
      case 0xdc:
        this.array(this.unsigned(2), depth);
        break;
      case 0xdd:
        this.array(this.unsigned(4), depth);
        break;
      case 0xde:
        this.map(this.unsigned(2), depth);
        break;
      case 0xdf:
        this.map(this.unsigned(4), depth);
        break;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        this.refuse("binary values have no counterpart in JSON and are not part of the protocol");
        break;
      default:
        this.refuse("extension types are not part of the protocol");
    }
  }

  private float(value: number): void {
    if (!Number.isFinite(value)) this.refuse("NaN and infinity are not allowed");
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) this.refuse("the number is beyond 2^53-1");
  }

  private array(length: number, depth: number): void {
    this.enter(depth);
    if (length > this.limits.maxArrayEntries) {
      this.refuse(
        `the array has ${length} entries; the limit is ${this.limits.maxArrayEntries}`,
        "too_large",
      );
    }
    for (let i = 0; i < length; i++) {
      this.path.push(i);
      this.value(depth + 1);
      this.path.pop();
    }
  }

  private map(length: number, depth: number): void {
    this.enter(depth);
    if (length > this.limits.maxMapEntries) {
      this.refuse(`the map has ${length} entries; the limit is ${this.limits.maxMapEntries}`, "too_large");
    }
    const keys: string[] = [];
    const seen = length > smallMap ? new Set<string>() : undefined;
    for (let i = 0; i < length; i++) {
      const key = this.key();
      this.path.push(key);
      if (seen === undefined ? keys.includes(key) : seen.has(key)) this.refuse("the key occurs twice");
      if (key === "__proto__") this.refuse("the key is not allowed");
      if (seen === undefined) keys.push(key);
      else seen.add(key);
      this.value(depth + 1);
      this.path.pop();
    }
  }

  private key(): string {
    const head = this.byte();
    let length: number;
    if (head >= 0xa0 && head <= 0xbf) length = head & 0x1f;
    else if (head === 0xd9) length = this.byte();
    else if (head === 0xda) length = this.unsigned(2);
    else return this.refuse("a key of the map is not a string, or too long");
    const start = this.at;
    this.string(length);
    return keyText(this.bytes, start, this.at);
  }

  private string(length: number): void {
    if (length > this.limits.maxStringBytes) {
      this.refuse(`the string has ${length} bytes; the limit is ${this.limits.maxStringBytes}`, "too_large");
    }
    const start = this.advance(length);
    for (let i = start; i < this.at; i++) {
      if ((this.bytes[i] as number) < 0x80) continue;
      if (!isUtf8(this.bytes.subarray(i, this.at))) this.refuse("the string is not UTF-8");
      return;
    }
  }

  private enter(depth: number): void {
    if (depth >= this.limits.maxDepth) {
      this.refuse(`the message is nested more than ${this.limits.maxDepth} levels deep`, "too_large");
    }
  }

  private byte(): number {
    const value = this.bytes[this.at];
    if (value === undefined) return this.refuse("the message ends too early");
    this.at++;
    return value;
  }

  private unsigned(size: 2 | 4): number {
    const start = this.advance(size);
    return size === 2 ? this.view.getUint16(start) : this.view.getUint32(start);
  }

  /** Skips bytes and gives the place where they began. */
  private advance(length: number): number {
    const start = this.at;
    this.skip(length);
    return start;
  }

  private skip(length: number): void {
    if (length > this.bytes.length - this.at) this.refuse("the message ends too early");
    this.at += length;
  }

  private refuse(what: string, code: "bad_message" | "too_large" = "bad_message"): never {
    throw new ShinkenError(code, `${formatPath(this.path)}: ${what}`, { path: formatPath(this.path) });
  }
}

/** Short ASCII keys, which are nearly all, without a call into the decoder. */
function keyText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 24)
    return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte >= 0x80)
      return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
    text += String.fromCharCode(byte);
  }
  return text;
}
