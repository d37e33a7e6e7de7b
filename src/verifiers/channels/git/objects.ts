/** Objects of a repository by their names, loose or packed. Every object read is held to its name. */
import { createHash } from "node:crypto";
import { ContentFault } from "../../value.js";
import { OBJECT_LIMIT, type RawObject, readPacked, readPackIndex } from "./pack.js";
import { inflateSync } from "node:zlib";

/** Bytes of all objects that one query may unpack. */
const TOTAL_LIMIT = 512 * 1024 * 1024;
/** Objects whose delta's base has a name, one upon the other. */
const BASE_DEPTH = 64;
/** Kind and size before a loose object's bytes. */
const HEADER_LIMIT = 64;

interface Pack {
  name: string;
  bytes: Uint8Array;
  offsets: Map<string, number>;
}

/** The name of an object. */
export function nameOf(kind: string, bytes: Uint8Array): string {
  return createHash("sha1").update(`${kind} ${bytes.length}\0`).update(bytes).digest("hex");
}

export class ObjectStore {
  private readonly files: ReadonlyMap<string, Uint8Array>;
  private readonly what: string;
  private readonly packs: Pack[] = [];
  private readonly known = new Map<string, RawObject>();
  private left = TOTAL_LIMIT;
  private depth = 0;

  /** Throws `ContentFault` for a damaged pack index. */
  constructor(files: ReadonlyMap<string, Uint8Array>, what: string) {
    this.files = files;
    this.what = what;
    for (const [name, index] of files) {
      if (!name.endsWith(".idx")) continue;
      const bytes = files.get(name.replace(/idx$/, "pack"));
      if (bytes !== undefined)
        this.packs.push({ name, bytes, offsets: readPackIndex(index, `${what}: ${name}`) });
    }
  }

  /** Names that begin with some digits. */
  startingWith(digits: string): string[] {
    const found = new Set<string>();
    for (const name of this.files.keys()) {
      const loose = /^objects\/([0-9a-f]{2})\/([0-9a-f]{38})$/.exec(name);
      if (loose !== null) found.add(`${loose[1] ?? ""}${loose[2] ?? ""}`);
    }
    for (const { offsets } of this.packs) for (const name of offsets.keys()) found.add(name);
    return [...found].filter((name) => name.startsWith(digits)).sort();
  }

  has(name: string): boolean {
    return this.files.has(loosePath(name)) || this.packs.some(({ offsets }) => offsets.has(name));
  }

  /** Throws `ContentFault` for an object that is missing, damaged or too large. */
  read(name: string): RawObject {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const what = `${this.what}: object ${name}`;
    if (this.depth > BASE_DEPTH)
      throw new ContentFault(`${what} is a delta upon more than ${BASE_DEPTH} others by name`);
    this.depth++;
    const found = this.find(name, what);
    this.depth--;
    this.left -= found.bytes.length;
    if (this.left < 0) throw new ContentFault(`${this.what}: more than ${TOTAL_LIMIT} bytes of objects`);
    if (nameOf(found.kind, found.bytes) !== name) throw new ContentFault(`${what} is not what its name says`);
    this.known.set(name, found);
    return found;
  }

  /** Reads an object that must be of a kind. */
  readKind(name: string, kind: string): Uint8Array {
    const found = this.read(name);
    if (found.kind !== kind)
      throw new ContentFault(`${this.what}: object ${name} is a ${found.kind}, not a ${kind}`);
    return found.bytes;
  }

  private find(name: string, what: string): RawObject {
    const loose = this.files.get(loosePath(name));
    if (loose !== undefined) return readLoose(loose, what);
    for (const { bytes, offsets } of this.packs) {
      const offset = offsets.get(name);
      if (offset !== undefined) return readPacked(bytes, offset, (base) => this.read(base), what);
    }
    throw new ContentFault(`${what} is missing`);
  }
}

function loosePath(name: string): string {
  return `objects/${name.slice(0, 2)}/${name.slice(2)}`;
}

/** `kind size NUL bytes`, deflated. */
function readLoose(file: Uint8Array, what: string): RawObject {
  let head: Uint8Array;
  try {
    // All but the header's own bytes count against the limit.
    head = inflateSync(file, { maxOutputLength: OBJECT_LIMIT + HEADER_LIMIT });
  } catch (error) {
    throw new ContentFault(
      `${what} is damaged: ${error instanceof Error ? error.message : "no zlib stream"}`,
    );
  }
  const end = head.indexOf(0);
  const header = /^(commit|tree|blob|tag) (\d{1,10})$/.exec(
    Buffer.from(head.subarray(0, Math.min(end, HEADER_LIMIT))).toString("latin1"),
  );
  if (end === -1 || header === null) throw new ContentFault(`${what} is damaged: it has no header`);
  const bytes = head.subarray(end + 1);
  if (bytes.length !== Number(header[2])) throw new ContentFault(`${what} is damaged: its size is another`);
  return { kind: header[1] ?? "", bytes };
}
