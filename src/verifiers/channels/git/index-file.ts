/**
 * The index: what the next commit would hold. Format: https://git-scm.com/docs/gitformat-index, versions 2 to 4.
 *
 *     header, 12 bytes: "DIRC", version, number of entries
 *     entry: 62 bytes (times, device, inode, mode, owner, size, hash, flags), 2 more if extended, the path and NUL; padded to a multiple of
 *         8 bytes, or in version 4 how much of the last path falls away before the rest
 *
 * Times and sizes that it holds of files are not believed: the agent can write what it likes there.
 */
import { decodeText } from "../../parse/text.js";
import { ContentFault } from "../../value.js";
import type { TreeFile } from "./contents.js";

const HEADER = 12;
const ENTRY = 62;
const ENTRY_LIMIT = 100_000;
const EXTENDED = 0x4000;
/** Extensions without which the entries are not the whole index. */
const VITAL = ["link", "sdir"];

export interface Index {
  files: Map<string, TreeFile>;
  /** Paths that a merge left open. */
  unmerged: Set<string>;
}

/** Throws `ContentFault` for an index that is damaged, split or sparse. */
export function readIndex(bytes: Uint8Array | undefined, what: string): Index {
  const index: Index = { files: new Map(), unmerged: new Set() };
  if (bytes === undefined) return index;
  const place = `${what}: the index`;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = buffer.length < HEADER ? 0 : buffer.readUInt32BE(4);
  if (version < 2 || version > 4 || buffer.toString("latin1", 0, 4) !== "DIRC")
    throw new ContentFault(`${place} is none of version 2, 3 or 4`);
  const count = buffer.readUInt32BE(8);
  if (count > ENTRY_LIMIT) throw new ContentFault(`${place} has more than ${ENTRY_LIMIT} entries`);
  let at = HEADER;
  let last = Buffer.alloc(0);
  for (let number = 0; number < count; number++) {
    if (at + ENTRY > buffer.length) throw new ContentFault(`${place} is damaged`);
    const flags = buffer.readUInt16BE(at + 60);
    let path = at + ENTRY + (flags & EXTENDED ? 2 : 0);
    let kept = Buffer.alloc(0);
    if (version === 4) {
      const { value, next } = varint(buffer, path);
      kept = last.subarray(0, Math.max(0, last.length - value));
      path = next;
    }
    const end = buffer.indexOf(0, path);
    if (end === -1) throw new ContentFault(`${place} is damaged`);
    last = Buffer.concat([kept, buffer.subarray(path, end)]);
    const name = decodeText(last, `${place}: a path`);
    const file = { mode: buffer.readUInt32BE(at + 24), hash: buffer.toString("hex", at + 40, at + 60) };
    if ((flags & 0x3000) === 0) index.files.set(name, file);
    else index.unmerged.add(name);
    at = version === 4 ? end + 1 : at + Math.ceil((end + 1 - at) / 8) * 8;
  }
  for (; at + 8 <= buffer.length - 20; at += 8 + buffer.readUInt32BE(at + 4)) {
    const extension = buffer.toString("latin1", at, at + 4);
    if (VITAL.includes(extension)) throw new ContentFault(`${place} is split or sparse, which is not read`);
  }
  return index;
}

function varint(buffer: Buffer, from: number): { value: number; next: number } {
  let at = from;
  let byte = buffer[at++] ?? 0;
  let value = byte & 0x7f;
  while (byte >= 0x80 && value < 1e9) {
    byte = buffer[at++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}
