/**
 * A database's write-ahead log, applied to a copy of the database: what a reader that opens both would see.
 * Format: https://www.sqlite.org/fileformat2.html, section 4 "The Write-Ahead Log".
 *
 *     header, 32 bytes, big-endian words: magic, version, page size, checkpoint number, salt 1, salt 2, checksum 1, checksum 2
 *     frame, 24 bytes and a page: page number, size of the database in pages (0 unless a commit), salts, checksums
 *
 * Both files come from a hostile guest: every number is checked before it is used.
 */
import { ContentFault } from "../../value.js";

const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;
const VERSION = 3_007_000;
const HEADER = 32;
const FRAME_HEADER = 24;
/** Bytes 18 and 19 of a database say how it is read and written: 1 is the rollback journal, 2 the log. */
const WRITE_VERSION = 18;
const READ_VERSION = 19;
const DATABASE_HEADER = 100;

/** Adds words to the log's running checksum; the byte order of the words is the log's own. */
class Checksum {
  private readonly littleEndian: boolean;
  private a = 0;
  private b = 0;

  constructor(littleEndian: boolean) {
    this.littleEndian = littleEndian;
  }

  add(view: DataView, from: number, length: number): void {
    for (let at = from; at < from + length; at += 8) {
      this.a = (this.a + view.getUint32(at, this.littleEndian) + this.b) >>> 0;
      this.b = (this.b + view.getUint32(at + 4, this.littleEndian) + this.a) >>> 0;
    }
  }

  matches(view: DataView, at: number): boolean {
    return view.getUint32(at) === this.a && view.getUint32(at + 4) === this.b;
  }
}

function isPageSize(size: number): boolean {
  return size >= 512 && size <= 65_536 && (size & (size - 1)) === 0;
}

/** Page size of a database by its header, or null if it has none. */
export function databasePageSize(database: Uint8Array): number | null {
  if (database.length < DATABASE_HEADER) return null;
  const stored = ((database[16] ?? 0) << 8) | (database[17] ?? 0);
  const size = stored === 1 ? 65_536 : stored;
  return isPageSize(size) ? size : null;
}

interface Commit {
  /** Latest content of each page, as an offset in the log. */
  pages: Map<number, number>;
  /** Size of the database in pages. */
  size: number;
}

/** Reads frames until the first that is torn or of an older log; what the last commit covers counts. */
function committed(log: Uint8Array, pageSize: number): Commit | null {
  const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
  const magic = view.getUint32(0);
  const checksum = new Checksum(magic === MAGIC_LITTLE);
  checksum.add(view, 0, 24);
  if (!checksum.matches(view, 24)) return null;
  const salts = [view.getUint32(16), view.getUint32(20)];
  const open = new Map<number, number>();
  const pages = new Map<number, number>();
  let committedSize = 0;
  for (let at = HEADER; at + FRAME_HEADER + pageSize <= log.length; at += FRAME_HEADER + pageSize) {
    const page = view.getUint32(at);
    if (page === 0 || view.getUint32(at + 8) !== salts[0] || view.getUint32(at + 12) !== salts[1]) break;
    checksum.add(view, at, 8);
    checksum.add(view, at + FRAME_HEADER, pageSize);
    if (!checksum.matches(view, at + 16)) break;
    open.set(page, at + FRAME_HEADER);
    const size = view.getUint32(at + 4);
    if (size === 0) continue;
    for (const [number, offset] of open) pages.set(number, offset);
    open.clear();
    committedSize = size;
  }
  return committedSize === 0 ? null : { pages, size: committedSize };
}

/**
 * The database with every committed transaction of its log in it, in the form that needs no log. Returns a new array; a log
 * that is empty, torn at its start or of another database's page size changes nothing but the form.
 * @param limit bytes that the result may have
 * Throws `ContentFault` where the log claims more than that.
 */
export function applyLog(database: Uint8Array, log: Uint8Array, limit: number): Uint8Array {
  let result: Uint8Array = database.slice();
  if (log.length >= HEADER) {
    const view = new DataView(log.buffer, log.byteOffset, log.byteLength);
    const magic = view.getUint32(0);
    const pageSize = view.getUint32(8);
    const known =
      (magic === MAGIC_LITTLE || magic === MAGIC_BIG) &&
      view.getUint32(4) === VERSION &&
      isPageSize(pageSize);
    const own = databasePageSize(database);
    const commit = known && (own === null || own === pageSize) ? committed(log, pageSize) : null;
    if (commit !== null) result = withPages(database, log, commit, pageSize, limit);
  }
  if (result.length > READ_VERSION && result[WRITE_VERSION] === 2 && result[READ_VERSION] === 2) {
    result[WRITE_VERSION] = 1;
    result[READ_VERSION] = 1;
  }
  return result;
}

function withPages(
  database: Uint8Array,
  log: Uint8Array,
  commit: Commit,
  pageSize: number,
  limit: number,
): Uint8Array {
  const length = commit.size * pageSize;
  if (length > limit) throw new ContentFault(`the log makes the database larger than ${limit} bytes`);
  const result = new Uint8Array(length);
  result.set(database.subarray(0, Math.min(database.length, length)));
  for (const [page, offset] of commit.pages) {
    if (page <= commit.size) result.set(log.subarray(offset, offset + pageSize), (page - 1) * pageSize);
  }
  return result;
}
