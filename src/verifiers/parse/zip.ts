/**
 * Zip archives of hostile origin, whole in memory.
 *
 *     local header + name + extra + data, for each entry | central directory | [zip64 end, its locator] | end record + comment
 *
 * The central directory is what counts; the local headers have to agree with it, lie within the file and not overlap, so that no
 * two unpackers see different archives and no byte is expanded twice.
 */
import { ContentFault } from "../value.js";
import { crc32 } from "./crc32.js";
import {
  type ArchiveEntry,
  decodeName,
  ENTRY_COUNT,
  ENTRY_LIMIT,
  type EntryKind,
  plainName,
  sortEntries,
} from "./entries.js";
import { Expansion, inflateTo } from "./expand.js";
import { exactInteger } from "./tree.js";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END64 = 0x06064b50;
const LOCATOR64 = 0x07064b50;
const LOCAL_SIZE = 30;
const CENTRAL_SIZE = 46;
const END_SIZE = 22;
const END64_SIZE = 56;
const LOCATOR64_SIZE = 20;
const COMMENT_LIMIT = 0xffff;
/** A 32-bit field whose value stands in the zip64 extra field. */
const ELSEWHERE = 0xffffffff;
const FLAG_ENCRYPTED = 1;
const FLAG_UTF8 = 1 << 11;
const STORED = 0;
const DEFLATED = 8;
/** Hosts whose attributes hold a Unix mode. */
const UNIX_HOSTS = new Set([3, 19]);

/** Characters 128 to 255 of code page 437, which names are in unless they say UTF-8. */
const CP437 =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

interface Central {
  name: string;
  rawName: Buffer;
  flags: number;
  method: number;
  sum: number;
  packed: number;
  size: number;
  offset: number;
  mode: number;
}

/** True for what starts as a zip archive, an empty one included. */
export function isZip(bytes: Uint8Array): boolean {
  return (
    bytes[0] === 0x50 &&
    bytes[1] === 0x4b &&
    ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))
  );
}

/** Lists an archive; nothing is expanded before an entry is read. Throws `ContentFault`. */
export function openZip(bytes: Uint8Array, what: string, expansion = new Expansion()): ArchiveEntry[] {
  return new Zip(bytes, what, expansion).entries();
}

class Zip {
  private readonly bytes: Buffer;
  private readonly what: string;
  private readonly expansion: Expansion;

  constructor(bytes: Uint8Array, what: string, expansion: Expansion) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.what = what;
    this.expansion = expansion;
  }

  entries(): ArchiveEntry[] {
    const { count, start, end } = this.directory();
    if (count > ENTRY_COUNT) throw this.fault(`holds more than ${ENTRY_COUNT} entries`);
    const found: Central[] = [];
    let at = start;
    while (found.length < count) {
      const { central, next } = this.central(at, end);
      found.push(central);
      at = next;
    }
    if (at !== end) throw this.fault("has a directory of another length than it says");
    const data = this.places(found, start);
    return sortEntries(
      found.map((central) => this.entry(central, data.get(central) ?? 0)),
      this.what,
    );
  }

  private fault(why: string): ContentFault {
    return new ContentFault(`${this.what}: the zip archive ${why}`);
  }

  /** Refuses what reaches beyond the file. */
  private need(at: number, size: number): void {
    if (at < 0 || at + size > this.bytes.length) throw this.fault("is cut short");
  }

  private word64(at: number): number {
    this.need(at, 8);
    return exactInteger(this.bytes.readBigUInt64LE(at), this.what);
  }

  private directory(): { count: number; start: number; end: number } {
    const at = this.findEnd();
    const disks = this.bytes.readUInt32LE(at + 4);
    const count = this.bytes.readUInt16LE(at + 10);
    const size = this.bytes.readUInt32LE(at + 12);
    const start = this.bytes.readUInt32LE(at + 16);
    const locator = at - LOCATOR64_SIZE;
    if (locator >= 0 && this.bytes.readUInt32LE(locator) === LOCATOR64) return this.directory64(locator);
    if (disks !== 0) throw this.fault("is split over several files");
    if (start + size !== at) throw this.fault("has a directory that does not end where it says");
    return { count, start, end: at };
  }

  private directory64(locator: number): { count: number; start: number; end: number } {
    const at = this.word64(locator + 8);
    this.need(at, END64_SIZE);
    if (this.bytes.readUInt32LE(at) !== END64 || at + 12 + this.word64(at + 4) !== locator)
      throw this.fault("has no sound zip64 record");
    const start = this.word64(at + 48);
    if (start + this.word64(at + 40) !== at)
      throw this.fault("has a directory that does not end where it says");
    return { count: this.word64(at + 32), start, end: at };
  }

  /** The end record whose comment reaches exactly to the end of the file. */
  private findEnd(): number {
    const last = this.bytes.length - END_SIZE;
    for (let at = last; at >= Math.max(0, last - COMMENT_LIMIT); at--) {
      if (
        this.bytes.readUInt32LE(at) === END &&
        at + END_SIZE + this.bytes.readUInt16LE(at + 20) === this.bytes.length
      )
        return at;
    }
    throw this.fault("has no end record: it is cut short or none");
  }

  private central(at: number, end: number): { central: Central; next: number } {
    if (at + CENTRAL_SIZE > end || this.bytes.readUInt32LE(at) !== CENTRAL)
      throw this.fault("has fewer entries than it says");
    const [nameSize, extraSize, commentSize] = [28, 30, 32].map((field) =>
      this.bytes.readUInt16LE(at + field),
    );
    const nameAt = at + CENTRAL_SIZE;
    const extraAt = nameAt + (nameSize ?? 0);
    const next = extraAt + (extraSize ?? 0) + (commentSize ?? 0);
    if (next > end) throw this.fault("has an entry that reaches beyond its directory");
    const flags = this.bytes.readUInt16LE(at + 8);
    const rawName = this.bytes.subarray(nameAt, extraAt);
    const unix = UNIX_HOSTS.has(this.bytes.readUInt8(at + 5));
    const central: Central = {
      name: (flags & FLAG_UTF8) !== 0 ? decodeName(rawName, this.what) : fromCp437(rawName),
      rawName,
      flags,
      method: this.bytes.readUInt16LE(at + 10),
      sum: this.bytes.readUInt32LE(at + 16),
      packed: this.bytes.readUInt32LE(at + 20),
      size: this.bytes.readUInt32LE(at + 24),
      offset: this.bytes.readUInt32LE(at + 42),
      mode: unix ? this.bytes.readUInt16LE(at + 40) : 0,
    };
    this.widen(central, extraAt, extraAt + (extraSize ?? 0));
    return { central, next };
  }

  /** Takes from the zip64 extra field what did not fit into 32 bits. */
  private widen(central: Central, from: number, end: number): void {
    for (let at = from; at + 4 <= end; at += 4 + this.bytes.readUInt16LE(at + 2)) {
      if (this.bytes.readUInt16LE(at) !== 1) continue;
      const stop = at + 4 + this.bytes.readUInt16LE(at + 2);
      let field = at + 4;
      for (const name of ["size", "packed", "offset"] as const) {
        if (central[name] !== ELSEWHERE) continue;
        if (field + 8 > stop || stop > end) throw this.fault("has a zip64 field that is cut short");
        central[name] = this.word64(field);
        field += 8;
      }
      return;
    }
  }

  /** Where each entry's data starts. */
  private places(found: readonly Central[], directory: number): Map<Central, number> {
    const data = new Map<Central, number>();
    let free = 0;
    for (const central of [...found].sort((a, b) => a.offset - b.offset)) {
      const { offset, packed, rawName } = central;
      if (offset < free) throw this.fault("has entries that overlap");
      if (free === 0 && offset !== 0) throw this.fault("has data ahead of its first entry");
      if (offset + LOCAL_SIZE > directory || this.bytes.readUInt32LE(offset) !== LOCAL)
        throw this.fault(`has no data for ${JSON.stringify(central.name)}`);
      const nameSize = this.bytes.readUInt16LE(offset + 26);
      const start = offset + LOCAL_SIZE + nameSize + this.bytes.readUInt16LE(offset + 28);
      const agrees =
        this.bytes.subarray(offset + LOCAL_SIZE, offset + LOCAL_SIZE + nameSize).equals(rawName) &&
        this.bytes.readUInt16LE(offset + 8) === central.method &&
        (this.bytes.readUInt16LE(offset + 6) & FLAG_ENCRYPTED) === (central.flags & FLAG_ENCRYPTED);
      if (!agrees) throw this.fault(`says two different things of ${JSON.stringify(central.name)}`);
      free = start + packed;
      if (free > directory) throw this.fault(`is cut short within ${JSON.stringify(central.name)}`);
      data.set(central, start);
    }
    return data;
  }

  private entry(central: Central, start: number): ArchiveEntry {
    const read = (): Uint8Array => this.read(central, start);
    const kind = kindOf(central);
    // Some unpackers take it for a slash.
    if (central.name.includes("\\")) throw this.fault(`has a backslash in ${JSON.stringify(central.name)}`);
    return {
      name: plainName(central.name, this.what),
      kind,
      size: central.size,
      target: () => (kind === "symlink" ? decodeName(read(), this.what) : undefined),
      read,
    };
  }

  private read(central: Central, start: number): Uint8Array {
    const place = `${this.what}: ${central.name}`;
    if ((central.flags & FLAG_ENCRYPTED) !== 0) throw new ContentFault(`${place} is encrypted`);
    if (central.size > ENTRY_LIMIT) throw new ContentFault(`${place} is larger than ${ENTRY_LIMIT} bytes`);
    const packed = this.bytes.subarray(start, start + central.packed);
    const bytes = this.unpack(central, packed, place);
    if (crc32(bytes) !== central.sum) throw new ContentFault(`${place} is damaged: its sum does not fit`);
    return bytes;
  }

  private unpack(central: Central, packed: Uint8Array, place: string): Uint8Array {
    if (central.method === DEFLATED) return inflateTo(packed, central.size, place, this.expansion);
    if (central.method !== STORED)
      throw new ContentFault(`${place} is packed by method ${central.method}, which is not read`);
    if (central.size !== central.packed)
      throw new ContentFault(`${place} holds ${central.packed} bytes and says ${central.size}`);
    this.expansion.add(packed.length, place);
    return packed;
  }
}

function fromCp437(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) =>
    byte < 128 ? String.fromCharCode(byte) : (CP437[byte - 128] ?? ""),
  ).join("");
}

function kindOf({ name, mode }: Central): EntryKind {
  if (name.endsWith("/")) return "directory";
  return (mode & 0o170000) === 0o120000 ? "symlink" : "file";
}
