import { ShinkenError } from "../../errors/index.js";

export type TarType = "file" | "hardlink" | "symlink" | "char" | "block" | "directory" | "fifo";

export interface TarEntry {
  /** As in the archive, e.g. `./usr/bin/ls`. */
  name: string;
  type: TarType;
  /** Permission bits with setuid, setgid and sticky. */
  mode: number;
  uid: number;
  gid: number;
  /** Seconds since the epoch. */
  mtime: number;
  /** Target of a link, else empty. */
  link: string;
  major: number;
  minor: number;
  data: Buffer;
}

const blockSize = 512;
/** Largest member that is read into memory. */
export const maxMemberBytes = 512 * 1024 * 1024;

const types: Readonly<Record<string, TarType>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hardlink",
  "2": "symlink",
  "3": "char",
  "4": "block",
  "5": "directory",
  "6": "fifo",
};

/** Hands out exact byte counts from a stream of chunks. */
class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private pending: Buffer[] = [];
  private available = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Exactly `count` bytes, or null if the stream ended before the first of them. */
  async take(count: number): Promise<Buffer | null> {
    while (this.available < count) {
      const next = await this.source.next();
      if (next.done === true) {
        if (this.available === 0) return null;
        throw broken("it ends in the middle of a member");
      }
      this.pending.push(next.value);
      this.available += next.value.length;
    }
    const all =
      this.pending.length === 1 && this.pending[0] !== undefined
        ? this.pending[0]
        : Buffer.concat(this.pending);
    const rest = all.subarray(count);
    this.pending = rest.length > 0 ? [rest] : [];
    this.available = rest.length;
    return all.subarray(0, count);
  }

  /** Reads to the end, so that the program that writes the stream can end by itself. */
  async drain(): Promise<void> {
    this.pending = [];
    while ((await this.source.next()).done !== true) continue;
  }

  async close(): Promise<void> {
    await this.source.return?.();
  }
}

function broken(why: string): ShinkenError {
  return new ShinkenError("image_build_failed", `a package's tar archive is broken: ${why}`);
}

function text(field: Buffer): string {
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? field.length : end).toString("utf8");
}

/** Octal digits, or GNU's base-256 form with the top bit set. */
function number(field: Buffer): number {
  if (((field[0] ?? 0) & 0x80) !== 0) {
    let value = (field[0] ?? 0) & 0x7f;
    for (const byte of field.subarray(1)) value = value * 256 + byte;
    if (!Number.isSafeInteger(value)) throw broken("a number is out of range");
    return value;
  }
  const digits = text(field).trim();
  if (digits === "") return 0;
  if (!/^[0-7]+$/.test(digits)) throw broken("a number is not octal");
  return Number.parseInt(digits, 8);
}

function checkSum(header: Buffer): void {
  let sum = 0;
  for (let i = 0; i < blockSize; i++) sum += i >= 148 && i < 156 ? 32 : (header[i] ?? 0);
  if (sum !== number(header.subarray(148, 156))) throw broken("a header's checksum is wrong");
}

/** The records of a pax extended header: "LENGTH KEY=VALUE\n". */
function paxRecords(data: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  let at = 0;
  while (at < data.length) {
    const space = data.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number.parseInt(data.toString("latin1", at, space), 10);
    if (!(length > space - at) || at + length > data.length) throw broken("a pax record is malformed");
    const record = data.toString("utf8", space + 1, at + length - 1);
    const equals = record.indexOf("=");
    if (equals < 0) throw broken("a pax record is malformed");
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

/**
 * Reads a tar stream (ustar, GNU long names, pax paths) member by member.
 * Format: POSIX.1-2017 "pax", section "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
 * Throws `image_build_failed` for anything it does not know.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void, void> {
  const reader = new ByteReader(source);
  let longName: string | undefined;
  let longLink: string | undefined;
  try {
    for (;;) {
      const header = await reader.take(blockSize);
      if (header === null) break;
      if (header.every((byte) => byte === 0)) {
        await reader.drain();
        break;
      }
      checkSum(header);
      const flag = String.fromCharCode(header[156] ?? 0);
      const size = number(header.subarray(124, 136));
      if (size > maxMemberBytes) throw broken("a member is too large");
      const padded = await reader.take(Math.ceil(size / blockSize) * blockSize);
      if (padded === null && size > 0) throw broken("it ends in the middle of a member");
      const data = (padded ?? Buffer.alloc(0)).subarray(0, size);
      if (flag === "L") longName = text(data);
      else if (flag === "K") longLink = text(data);
      else if (flag === "x") {
        const records = paxRecords(data);
        longName = records.get("path") ?? longName;
        longLink = records.get("linkpath") ?? longLink;
      } else if (flag !== "g") {
        const type = types[flag];
        if (type === undefined) throw broken(`a member has the unknown type ${JSON.stringify(flag)}`);
        const isUstar = header.toString("latin1", 257, 263) === "ustar\0";
        const prefix = isUstar ? text(header.subarray(345, 500)) : "";
        const short = text(header.subarray(0, 100));
        yield {
          name: longName ?? (prefix === "" ? short : `${prefix}/${short}`),
          type,
          mode: number(header.subarray(100, 108)) & 0o7777,
          uid: number(header.subarray(108, 116)),
          gid: number(header.subarray(116, 124)),
          mtime: number(header.subarray(136, 148)),
          link: longLink ?? text(header.subarray(157, 257)),
          major: number(header.subarray(329, 337)),
          minor: number(header.subarray(337, 345)),
          data,
        };
        longName = undefined;
        longLink = undefined;
      }
    }
  } finally {
    await reader.close();
  }
}
