/** What an archive holds, and single entries of it. */
import { createHash } from "node:crypto";
import type { Json } from "../../assertions/schema.js";
import { splitLines } from "../../assertions/text.js";
import { type ArchiveEntry, plainName } from "../../parse/entries.js";
import { Expansion, gunzip } from "../../parse/expand.js";
import { parseJson } from "../../parse/json.js";
import { decodeText } from "../../parse/text.js";
import { setKey } from "../../parse/tree.js";
import { isXz, unxz } from "../../parse/xz.js";
import { isZip, openZip } from "../../parse/zip.js";
import { isZstd, unzstd } from "../../parse/zstd.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import type { ArchiveQuery } from "./query.js";
import { isTar, openTar } from "./tar.js";

export const parseArchive: Parser<ArchiveQuery> = async (bytes, query, what): Promise<Answer> => {
  const entries = await openArchive(bytes, what);
  if (query.kind !== "entries" && query.kind !== "manifest") return oneEntry(entries, query, what);
  const listed = entries.filter(({ kind }) => query.directories || kind !== "directory");
  if (query.kind === "entries") return { type: "list", value: listed.map(shownName) };
  const manifest: { [key: string]: Json } = {};
  for (const entry of listed) setKey(manifest, shownName(entry), describeEntry(entry));
  return { type: "json", value: manifest };
};

/** First bytes of formats that are known and not read. */
const FOREIGN: readonly [string, string][] = [
  ["bzip2", "425a68"],
  ["7z", "377abcaf271c"],
  ["rar", "526172211a07"],
  ["lzip", "4c5a4950"],
];

/** Formats that hold one stream, which must be a tar archive. */
const packings: readonly {
  name: string;
  is: (bytes: Uint8Array) => boolean;
  expand: (bytes: Uint8Array, what: string, expansion: Expansion) => Uint8Array | Promise<Uint8Array>;
}[] = [
  { name: "gzip", is: (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b, expand: gunzip },
  { name: "xz", is: isXz, expand: unxz },
  { name: "zstd", is: isZstd, expand: unzstd },
];

async function openArchive(bytes: Uint8Array, what: string): Promise<ArchiveEntry[]> {
  if (isZip(bytes)) return openZip(bytes, what);
  const packing = packings.find(({ is }) => is(bytes));
  if (packing !== undefined) {
    const expanded = await packing.expand(bytes, what, new Expansion());
    if (!isEmptyTar(expanded) && !isTar(expanded))
      throw new ContentFault(`${what} is ${packing.name}, but of no tar archive`);
    return openTar(expanded, what);
  }
  if (isTar(bytes) || isEmptyTar(bytes)) return openTar(bytes, what);
  const head = Buffer.from(bytes.subarray(0, 8)).toString("hex");
  const foreign = FOREIGN.find(([, magic]) => head.startsWith(magic));
  if (foreign !== undefined) throw new ContentFault(`${what} is ${foreign[0]}, which is not read`);
  throw new ContentFault(`${what} is neither zip nor tar, packed or not`);
}

/** An archive of nothing is zeros alone, in whole blocks. */
function isEmptyTar(bytes: Uint8Array): boolean {
  return bytes.length >= 1_024 && bytes.length % 512 === 0 && bytes.every((byte) => byte === 0);
}

function shownName({ name, kind }: ArchiveEntry): string {
  return kind === "directory" ? `${name}/` : name;
}

function describeEntry(entry: ArchiveEntry): Json {
  const { kind } = entry;
  const target = entry.target();
  if (target !== undefined) return { kind, target };
  if (kind !== "file") return { kind };
  const sha256 = createHash("sha256").update(entry.read()).digest("hex");
  return { kind, size: entry.size, sha256 };
}

function oneEntry(
  entries: readonly ArchiveEntry[],
  query: Extract<ArchiveQuery, { entry: string }>,
  what: string,
): Answer {
  const name = plainName(query.entry, "the query");
  const entry = entries.find((one) => one.name === name);
  const place = `${what}: ${name}`;
  if (entry === undefined) return { absent: `${what} holds no ${name}` };
  if (entry.kind !== "file") throw new ContentFault(`${place} is a ${entry.kind}, not a file`);
  const bytes = entry.read();
  if (query.kind === "bytes") return { type: "bytes", value: bytes.slice() };
  const text = decodeText(bytes, place);
  if (query.kind === "text") return { type: "text", value: text };
  if (query.kind === "lines") return { type: "list", value: splitLines(text) };
  return { type: "json", value: parseJson(text, place) };
}
