/**
 * Tar archives, whole in memory: ustar, pax and GNU long names. Read by our own lines, since the libraries at hand take sparse
 * entries and unknown types for plain files and mend names that are not UTF-8.
 *
 *     header of 512 bytes: name 100, mode 8, uid 8, gid 8, size 12, mtime 12, sum 8, type 1, target 100, "ustar" 8, ..., prefix 155 at 345
 *     data, filled up to 512 bytes; two blocks of zeros at the end
 */
import {
  type ArchiveEntry,
  decodeName,
  ENTRY_COUNT,
  type EntryKind,
  plainName,
  sortEntries,
} from "../../parse/entries.js";
import { exactInteger } from "../../parse/tree.js";
import { ContentFault } from "../../value.js";

const BLOCK = 512;
const SUM_AT = 148;
const SUM_SIZE = 8;
/** Bytes of a long name or of an entry's pax records. */
const RECORDS_LIMIT = 1024 * 1024;

const kinds: Readonly<Record<string, EntryKind>> = {
  "\0": "file",
  "0": "file",
  "7": "file",
  "1": "hardlink",
  "2": "symlink",
  "3": "char",
  "4": "block",
  "5": "directory",
  "6": "fifo",
};

/** What pax records and GNU's long names say of the entry that follows. */
interface Overrides {
  path?: Uint8Array;
  linkpath?: Uint8Array;
  size?: number;
}

/** True for what starts with a header whose sum fits. */
export function isTar(bytes: Uint8Array): boolean {
  return bytes.length >= BLOCK && sumFits(bytes.subarray(0, BLOCK));
}

/** Lists an archive. Throws `ContentFault` for what is damaged, sparse, or named in ways that unpackers read differently. */
export function openTar(bytes: Uint8Array, what: string): ArchiveEntry[] {
  const entries: ArchiveEntry[] = [];
  let overrides: Overrides = {};
  let at = 0;
  while (at + BLOCK <= bytes.length) {
    const header = bytes.subarray(at, at + BLOCK);
    if (isZero(header)) break;
    const refuse = (why: string): ContentFault =>
      new ContentFault(`${what}: the tar entry at byte ${at} ${why}`);
    if (!sumFits(header)) throw refuse("is damaged: its sum does not fit");
    const type = String.fromCharCode(header[156] ?? 0);
    const meta = "xgLK".includes(type);
    const size = (meta ? undefined : overrides.size) ?? number(header.subarray(124, 136), what);
    const data = bytes.subarray(at + BLOCK, at + BLOCK + size);
    if (data.length < size) throw refuse("is cut short");
    const next = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (meta) {
      if (size > RECORDS_LIMIT) throw refuse(`has records of more than ${RECORDS_LIMIT} bytes`);
      overrides = { ...overrides, ...overridesOf(type, data, what) };
    } else {
      const kind = kinds[type];
      if (kind === undefined)
        throw refuse(
          type === "S" ? "is sparse, which is not read" : `is of the unknown type ${JSON.stringify(type)}`,
        );
      if (entries.length >= ENTRY_COUNT)
        throw new ContentFault(`${what} holds more than ${ENTRY_COUNT} entries`);
      if (size > 0 && kind !== "file") throw refuse(`is a ${kind} that holds data`);
      entries.push(entryOf(header, kind, data, overrides, what));
      overrides = {};
    }
    at = next;
  }
  if (bytes.subarray(at).some((byte) => byte !== 0)) throw new ContentFault(`${what} goes on after its end`);
  return sortEntries(entries, what);
}

function entryOf(
  header: Uint8Array,
  kind: EntryKind,
  data: Uint8Array,
  overrides: Overrides,
  what: string,
): ArchiveEntry {
  const name = decodeName(overrides.path ?? nameOf(header), what);
  const link = kind === "symlink" || kind === "hardlink";
  const target = link ? decodeName(overrides.linkpath ?? field(header, 157, 100), what) : undefined;
  return {
    name: plainName(name, what),
    kind: kind === "file" && name.endsWith("/") ? "directory" : kind,
    size: data.length,
    target: () => target,
    read: () => data,
  };
}

function nameOf(header: Uint8Array): Uint8Array {
  const name = field(header, 0, 100);
  const ustar = Buffer.from(header.subarray(257, 263)).toString("latin1") === "ustar\0";
  const prefix = ustar ? field(header, 345, 155) : new Uint8Array();
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]);
}

/** A field up to its first NUL. */
function field(header: Uint8Array, at: number, size: number): Uint8Array {
  const bytes = header.subarray(at, at + size);
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

/** Octal digits, or a binary number whose first bit is set. */
function number(bytes: Uint8Array, what: string): number {
  const first = bytes[0] ?? 0;
  if (first === 0x80) {
    let value = 0n;
    for (const byte of bytes.subarray(1)) value = (value << 8n) | BigInt(byte);
    return exactInteger(value, what);
  }
  const text = Buffer.from(bytes).toString("latin1").replaceAll("\0", " ").trim();
  if (!/^[0-7]*$/.test(text)) throw new ContentFault(`${what} has an entry whose size is no number`);
  return text === "" ? 0 : Number.parseInt(text, 8);
}

function overridesOf(type: string, data: Uint8Array, what: string): Overrides {
  const untilNul = data.subarray(0, data.indexOf(0) === -1 ? undefined : data.indexOf(0));
  if (type === "L") return { path: untilNul };
  if (type === "K") return { linkpath: untilNul };
  const found: Overrides = {};
  for (const [key, value] of records(data, what)) {
    if (key.startsWith("GNU.sparse."))
      throw new ContentFault(`${what} has a sparse entry, which is not read`);
    if (!["path", "linkpath", "size"].includes(key)) continue;
    if (type === "g") throw new ContentFault(`${what} says the ${key} of all its entries at once`);
    if (key === "path" || key === "linkpath") found[key] = value;
    else found.size = number(Buffer.from(decimalToOctal(value, what)), what);
  }
  return found;
}

function decimalToOctal(value: Uint8Array, what: string): string {
  const text = Buffer.from(value).toString("latin1");
  if (!/^\d{1,15}$/.test(text)) throw new ContentFault(`${what} has an entry whose size is no number`);
  return Number(text).toString(8);
}

/** Pax records: "length key=value\n", the length in decimal and counting itself. */
function* records(data: Uint8Array, what: string): Generator<[string, Uint8Array]> {
  const refuse = (): ContentFault => new ContentFault(`${what} has a pax record that is malformed`);
  let at = 0;
  while (at < data.length && data[at] !== 0) {
    const space = data.indexOf(0x20, at);
    const digits = Buffer.from(data.subarray(at, space === -1 ? at : space)).toString("latin1");
    if (!/^[1-9]\d{0,8}$/.test(digits)) throw refuse();
    const end = at + Number(digits);
    const equals = data.indexOf(0x3d, space);
    if (end > data.length || data[end - 1] !== 0x0a || equals === -1 || equals >= end) throw refuse();
    yield [decodeName(data.subarray(space + 1, equals), what), data.subarray(equals + 1, end - 1)];
    at = end;
  }
}

function isZero(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/** The sum is that of the header's bytes, its own field taken as spaces; some old writers added signed bytes. */
function sumFits(header: Uint8Array): boolean {
  const text = Buffer.from(header.subarray(SUM_AT, SUM_AT + SUM_SIZE))
    .toString("latin1")
    .replaceAll("\0", " ")
    .trim();
  if (!/^[0-7]{1,7}$/.test(text)) return false;
  let unsigned = 0;
  let signed = 0;
  for (const [at, byte] of header.entries()) {
    const own = at >= SUM_AT && at < SUM_AT + SUM_SIZE;
    unsigned += own ? 0x20 : byte;
    signed += own ? 0x20 : (byte << 24) >> 24;
  }
  const wanted = Number.parseInt(text, 8);
  return wanted === unsigned || wanted === signed;
}
