/**
 * Repositories of the machine: their files are copied out of the grading fork and read on the host. The guest's git is never run: hooks,
 * configuration, alternates and replaced objects are the agent's, and have no say here.
 */
import { posix } from "node:path";
import { parseInPool } from "../../pool.js";
import { type Answer, ContentFault } from "../../value.js";
import type { MachineView } from "../../view.js";
import type { ReadChannel } from "../channel.js";
import { type Entry, walkTree } from "../fs/walk.js";
import type { GitQuery } from "./query.js";
import { packSnapshot, type WorkFile } from "./snapshot.js";

/** Bytes of a repository, and of a working tree, that are copied out. */
const COPY_LIMIT = 64 * 1024 * 1024;
/** Files that are asked for at once. */
const READ_AHEAD = 64;
/** Folders of refs, and of a working tree, that lie in each other. */
const DEPTH = 64;
const SINGLE_FILES = ["HEAD", "config", "packed-refs", "shallow", "index", "info/exclude"];

export const readGit: ReadChannel<GitQuery> = async (query, context) => {
  const view = await context.view();
  const root = await view.resolve(query.path);
  const folder = root?.stat.type === "directory" ? await gitFolder(view, root.path) : null;
  if (root === null || folder === null)
    return { absent: `there is no git repository at ${query.path}` } satisfies Answer;
  const wantsWork = query.kind === "status" || (query.kind === "diff" && query.to === undefined);
  if (wantsWork && folder === root.path)
    throw new ContentFault(`${query.path} is bare and has no working tree`);
  const files = await repositoryFiles(view, folder, query.path);
  const work = wantsWork ? await workFiles(view, root.path, query.path) : null;
  return parseInPool(packSnapshot({ files, work }), { channel: "git", query }, query.path, context.signal);
};

async function isFolder(view: MachineView, path: string): Promise<boolean> {
  return (await view.stat(path))?.type === "directory";
}

/** The folder with HEAD and objects, or null. */
async function gitFolder(view: MachineView, root: string): Promise<string | null> {
  const inside = posix.join(root, ".git");
  const stat = await view.stat(inside);
  if (stat?.type === "directory") return inside;
  if (stat !== null)
    throw new ContentFault(
      `${inside} is a ${stat.type}: a linked working tree or submodule; name the repository itself`,
    );
  const bare =
    (await isFolder(view, posix.join(root, "objects"))) &&
    (await view.stat(posix.join(root, "HEAD"))) !== null;
  return bare ? root : null;
}

/** Copies regular files; what else lies there is not read, and then an object is missing. */
class Copier {
  private left = COPY_LIMIT;
  private readonly view: MachineView;
  private readonly what: string;

  constructor(view: MachineView, what: string) {
    this.view = view;
    this.what = what;
  }

  async copy<T>(entries: readonly Entry[], make: (entry: Entry, bytes: Uint8Array) => T): Promise<T[]> {
    const made: T[] = [];
    for (const { stat } of entries) this.left -= stat.size;
    if (this.left < 0) throw new ContentFault(`${this.what}: more than ${COPY_LIMIT} bytes to copy`);
    for (let at = 0; at < entries.length; at += READ_AHEAD) {
      const group = entries.slice(at, at + READ_AHEAD);
      const all = await Promise.all(group.map(({ path }) => this.view.read(path, COPY_LIMIT)));
      group.forEach((entry, index) => {
        const bytes = all[index] ?? null;
        if (bytes !== null) made.push(make(entry, bytes));
      });
    }
    return made;
  }
}

async function repositoryFiles(
  view: MachineView,
  folder: string,
  what: string,
): Promise<Map<string, Uint8Array>> {
  const entries: Entry[] = [];
  for (const name of SINGLE_FILES) {
    const path = posix.join(folder, name);
    const stat = await view.stat(path);
    if (stat !== null) entries.push({ path, stat });
  }
  for (const [name, depth] of [
    ["refs", DEPTH],
    ["objects", 3],
  ] as const) {
    const path = posix.join(folder, name);
    if (await isFolder(view, path)) entries.push(...(await walkTree(view, path, depth)));
  }
  const wanted = entries.filter(
    ({ path, stat }) => stat.type === "file" && isRead(posix.relative(folder, path)),
  );
  const copied = await new Copier(view, what).copy(
    wanted,
    ({ path }, bytes) => [posix.relative(folder, path), bytes] as const,
  );
  return new Map(copied);
}

const OBJECT_FILE = /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}|pack\/[^/]+\.(?:pack|idx))$/;
const isRead = (name: string): boolean => !name.startsWith("objects/") || OBJECT_FILE.test(name);

async function workFiles(view: MachineView, root: string, what: string): Promise<WorkFile[]> {
  const entries = await walkTree(view, root, DEPTH, (path) => posix.basename(path) === ".git");
  const name = (path: string): string => posix.relative(root, path);
  const links = entries
    .filter(({ stat }) => stat.type === "symlink")
    .map(({ path, stat }) => ({ path: name(path), mode: 0o120000, bytes: Buffer.from(stat.target ?? "") }));
  const files = await new Copier(view, what).copy(
    entries.filter(({ stat }) => stat.type === "file"),
    ({ path, stat }, bytes) => ({ path: name(path), mode: stat.mode & 0o100 ? 0o100755 : 0o100644, bytes }),
  );
  return [...links, ...files];
}
