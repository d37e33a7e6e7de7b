/** What commits, tags and trees say. */
import { decodeText } from "../../parse/text.js";
import { ContentFault } from "../../value.js";
import type { ObjectStore } from "./objects.js";

/** Paths of one tree. */
const TREE_LIMIT = 100_000;
/** Folders in each other. */
const TREE_DEPTH = 128;

export interface Person {
  name: string;
  email: string;
  /** Seconds since the epoch. */
  time: number;
}

export interface Commit {
  hash: string;
  tree: string;
  parents: string[];
  author: Person;
  committer: Person;
  message: string;
}

const HASH = /^[0-9a-f]{40}$/;
const PERSON = /^(.*?) ?<([^<>]*)> (\d{1,12}) [+-]\d{4}$/s;

function personOf(text: string | undefined, what: string): Person {
  const [, name, email, time] = PERSON.exec(text ?? "") ?? [];
  if (name === undefined || email === undefined) throw new ContentFault(`${what} names nobody, or no time`);
  return { name, email, time: Number(time) };
}

/** A date in UTC. */
export function dateText({ time }: Person): string {
  return new Date(time * 1000).toISOString();
}

/** Header lines of a commit or tag (a line that begins with a space goes on with the last), and the message. */
function fieldsOf(bytes: Uint8Array, what: string): { fields: Map<string, string[]>; message: string } {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).indexOf("\n\n");
  const head = decodeText(end === -1 ? bytes : bytes.subarray(0, end), what);
  const fields = new Map<string, string[]>();
  for (const line of head.replaceAll("\n ", " ").split("\n")) {
    const [, key = line, value = ""] = /^(\S+) (.*)$/s.exec(line) ?? [];
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  const body = end === -1 ? new Uint8Array() : bytes.subarray(end + 2);
  return { fields, message: decodeBody(body, fields.get("encoding")?.[0], what) };
}

function decodeBody(body: Uint8Array, encoding: string | undefined, what: string): string {
  if (encoding === undefined) return decodeText(body, what);
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw new ContentFault(`${what}: its message is not valid ${encoding.slice(0, 40)}`);
  }
}

export function readCommit(store: ObjectStore, hash: string, what: string): Commit {
  const place = `${what}: commit ${hash}`;
  const { fields, message } = fieldsOf(store.readKind(hash, "commit"), place);
  const tree = fields.get("tree")?.[0] ?? "";
  const parents = fields.get("parent") ?? [];
  if (![tree, ...parents].every((name) => HASH.test(name))) throw new ContentFault(`${place} is damaged`);
  return {
    hash,
    tree,
    parents,
    author: personOf(fields.get("author")?.[0], `${place}: its author`),
    committer: personOf(fields.get("committer")?.[0], `${place}: its committer`),
    message,
  };
}

/** The object that a tag is on. */
export function taggedBy(store: ObjectStore, hash: string, what: string): string {
  const { fields } = fieldsOf(store.readKind(hash, "tag"), `${what}: tag ${hash}`);
  const target = fields.get("object")?.[0] ?? "";
  if (!HASH.test(target)) throw new ContentFault(`${what}: tag ${hash} is damaged`);
  return target;
}

export interface TreeFile {
  mode: number;
  hash: string;
}

const FOLDER = 0o040000;
export const SUBMODULE = 0o160000;

/** Every file, link and submodule below a tree, by path. Throws `ContentFault` for more than 100,000. */
export function readTree(store: ObjectStore, hash: string, what: string): Map<string, TreeFile> {
  const files = new Map<string, TreeFile>();
  let entries = 0;
  const visit = (tree: string, prefix: string, depth: number): void => {
    if (depth > TREE_DEPTH) throw new ContentFault(`${what}: a tree is deeper than ${TREE_DEPTH}`);
    for (const entry of entriesOf(store.readKind(tree, "tree"), `${what}: tree ${tree}`)) {
      if (++entries > TREE_LIMIT)
        throw new ContentFault(`${what}: a tree has more than ${TREE_LIMIT} entries`);
      const path = `${prefix}${entry.name}`;
      if (entry.mode === FOLDER) visit(entry.hash, `${path}/`, depth + 1);
      else files.set(path, { mode: entry.mode, hash: entry.hash });
    }
  };
  visit(hash, "", 0);
  return files;
}

/** `mode name NUL hash`, one after the other. */
function* entriesOf(bytes: Uint8Array, what: string): Generator<TreeFile & { name: string }> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const space = bytes.indexOf(0x20, at);
    if (end === -1 || space === -1 || space > end || end + 21 > bytes.length)
      throw new ContentFault(`${what} is damaged`);
    const mode = Buffer.from(bytes.subarray(at, space)).toString("latin1");
    if (!/^[0-7]{5,6}$/.test(mode)) throw new ContentFault(`${what} is damaged`);
    const name = decodeText(bytes.subarray(space + 1, end), `${what}: a name`);
    yield {
      mode: Number.parseInt(mode, 8),
      name,
      hash: Buffer.from(bytes.subarray(end + 1, end + 21)).toString("hex"),
    };
    at = end + 21;
  }
}
