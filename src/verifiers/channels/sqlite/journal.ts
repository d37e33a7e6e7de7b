/**
 * A hot rollback journal: a transaction was under way when the machine was copied. Its pages are put back, as the
 * next reader would do, so that a check sees the last committed state.
 * Format: https://www.sqlite.org/fileformat2.html, section 3 "The Rollback Journal".
 *
 *     header, padded to a sector, big-endian words after the magic: records, nonce, pages of the database, sector size, page size
 *     record: page number, the page's former content, checksum
 */
const MAGIC = Uint8Array.of(0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7);
const HEADER = 28;
/** A record count of all ones: as many as the file holds. */
const ALL_RECORDS = 0xffffffff;

function hasMagic(journal: Uint8Array, at: number): boolean {
  return MAGIC.every((byte, index) => journal[at + index] === byte);
}

/** The sparse sum that guards a record: every 200th byte from the end, and the nonce. */
function checksum(page: Uint8Array, nonce: number): number {
  let sum = nonce;
  for (let at = page.length - 200; at > 0; at -= 200) sum = (sum + (page[at] ?? 0)) >>> 0;
  return sum;
}

/** The database before the transaction that the journal belongs to; the same array where it is not hot. */
export function rollBack(database: Uint8Array, journal: Uint8Array): Uint8Array {
  if (journal.length < HEADER || !hasMagic(journal, 0)) return database;
  const view = new DataView(journal.buffer, journal.byteOffset, journal.byteLength);
  const sector = view.getUint32(20);
  const pageSize = view.getUint32(24);
  const pages = view.getUint32(16);
  const sane = [sector, pageSize].every((size) => size >= 32 && size <= 65_536 && (size & (size - 1)) === 0);
  const length = pages * pageSize;
  if (!sane || pageSize < 512 || length > database.length + journal.length) return database;
  const result = new Uint8Array(length);
  result.set(database.subarray(0, Math.min(database.length, length)));
  const restored = new Set<number>();
  let at = 0;
  while (at + HEADER <= journal.length && hasMagic(journal, at)) {
    const count = view.getUint32(at + 8);
    const nonce = view.getUint32(at + 12);
    at += sector;
    const held = Math.max(0, Math.floor((journal.length - at) / (pageSize + 8)));
    const records = count === ALL_RECORDS ? held : Math.min(count, held);
    for (let index = 0; index < records; index++, at += pageSize + 8) {
      const page = view.getUint32(at);
      const content = journal.subarray(at + 4, at + 4 + pageSize);
      if (page === 0 || view.getUint32(at + 4 + pageSize) !== checksum(content, nonce)) return result;
      // The first record of a page holds what it was before the transaction.
      if (page <= pages && !restored.has(page)) result.set(content, (page - 1) * pageSize);
      restored.add(page);
    }
    at = Math.ceil(at / sector) * sector;
  }
  return result;
}
