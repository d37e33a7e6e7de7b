/** Files of the machine. */
import { posix } from "node:path";
import type { FileStat } from "../../../sandbox/sandbox.js";
import type { Json } from "../../assertions/schema.js";
import { parseInPool } from "../../pool.js";
import { type Answer, ContentFault, type FileFacts } from "../../value.js";
import type { MachineView } from "../../view.js";
import type { ChannelContext, ReadChannel } from "../channel.js";
import type { FsQuery } from "./query.js";
import { parseFs } from "./parse.js";
import { walkGlob, walkTree } from "./walk.js";

export const readFs: ReadChannel<FsQuery> = async (query, context) => {
  const view = await context.view();
  switch (query.kind) {
    case "text":
    case "lines":
    case "json":
    case "csv":
      return parsed(view, query, query.max_bytes, context);
    case "number":
      return parsed(view, query, undefined, context);
    case "bytes": {
      const bytes = await view.read(query.path, query.max_bytes);
      return bytes === null ? nothingAt(query.path) : { type: "bytes", value: bytes };
    }
    case "file":
      return facts(view, query.path, context.wantHash);
    case "hash":
      return hashOf(view, query.path);
    case "tree": {
      const tree = await treeBelow(view, query.path, query.depth);
      return tree === null ? nothingAt(query.path) : { type: "list", value: tree.map(({ name }) => name) };
    }
    case "manifest":
      return manifest(view, query.path, query.depth);
    case "glob":
      return { type: "list", value: await walkGlob(view, query.pattern) };
  }
};

/** Bytes above which parsing leaves the main thread. */
const PARSE_INLINE_LIMIT = 64 * 1024;

function nothingAt(path: string): Answer {
  return { absent: `there is nothing at ${path}` };
}

async function parsed(
  view: MachineView,
  query: Extract<FsQuery, { path: string }>,
  limit: number | undefined,
  context: ChannelContext,
): Promise<Answer> {
  const { path } = query;
  const bytes = await view.read(path, limit);
  if (bytes === null) return nothingAt(path);
  if (bytes.length <= PARSE_INLINE_LIMIT) return parseFs(bytes, query, path);
  return parseInPool(bytes, { channel: "fs", query }, path, context.signal);
}

async function facts(view: MachineView, path: string, wantHash: boolean): Promise<Answer> {
  const stat = await view.stat(path);
  if (stat === null) return nothingAt(path);
  const value: FileFacts = {
    kind: stat.type,
    size: stat.size,
    mode: stat.mode,
    uid: stat.uid,
    target: stat.target,
  };
  if (wantHash && stat.type === "file") value.sha256 = await view.hash(path);
  return { type: "file", value };
}

async function hashOf(view: MachineView, path: string): Promise<Answer> {
  const found = await view.resolve(path);
  if (found === null) return nothingAt(path);
  if (found.stat.type !== "file") throw new ContentFault(`${path} is a ${found.stat.type}, not a file`);
  return { type: "text", value: await view.hash(found.path) };
}

interface Below {
  /** Path below the root; a folder's ends with a slash. */
  name: string;
  path: string;
  stat: FileStat;
}

async function treeBelow(view: MachineView, path: string, depth: number): Promise<Below[] | null> {
  const root = await view.resolve(path);
  if (root === null) return null;
  if (root.stat.type !== "directory")
    throw new ContentFault(`${path} is a ${root.stat.type}, not a directory`);
  const entries = await walkTree(view, root.path, depth);
  return entries.map((entry) => ({
    ...entry,
    name: posix.relative(root.path, entry.path) + (entry.stat.type === "directory" ? "/" : ""),
  }));
}

/** Path to hash for files, to the target for links, to the kind for the rest. */
async function manifest(view: MachineView, path: string, depth: number): Promise<Answer> {
  const tree = await treeBelow(view, path, depth);
  if (tree === null) return nothingAt(path);
  const pairs = await Promise.all(
    tree.map(async ({ name, path: at, stat }): Promise<[string, Json]> => {
      if (stat.type === "file") return [name, { sha256: await view.hash(at) }];
      if (stat.type === "symlink") return [name, { target: stat.target ?? null }];
      return [name, { kind: stat.type }];
    }),
  );
  return { type: "json", value: Object.fromEntries(pairs) };
}
