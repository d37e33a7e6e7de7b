/**
 * What killed writers leave in a folder of bundles beside whole files: drafts, locks of files that were never made, states on their way
 * into a bundle, halves of content. It goes once nobody can be at it any more; a bundle itself is never touched, nor a name of anybody else's.
 */
import { type Dirent, existsSync, renameSync, rmSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { blobGraceMs } from "./blobs.js";
import { isAbandoned, lockPath, release, take } from "./owner.js";

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** Files that writers take for themselves: bundles, states, and pruning, which is none. */
const taken = `(?:.*\\.skn|prune|\\.state-${id})`;
const names = {
  /** Whole, or as the machine writes it down. */
  state: new RegExp(`^\\.state-${id}(?:\\.tmp\\.\\d+\\.\\d+)?$`),
  lock: new RegExp(`^${taken}\\.lock$`),
  /** What a process says of itself before, or while, it takes a file. */
  claim: new RegExp(`^${taken}\\.(?:${id}|lock\\.[0-9a-f]{16})\\.tmp$`),
  recovered: /\.skn\.tmp$/,
  index: /^index\.jsonl\.tmp$/,
  blob: /^[0-9a-f]{64}\.\d+-[0-9a-f]{8}\.tmp$/,
  aside: /^[0-9a-f]{64}\.pruned\.tmp$/,
};
/** What stands behind the name of the file that is taken. */
const endings = { lock: /\.lock$/, recovered: /\.tmp$/, state: /\.tmp\.\d+\.\d+$/ };

export function statePath(folder: string, uuid: string): string {
  return join(folder, `.state-${uuid}`);
}

/**
 * Removes them from a folder of bundles, its folders of tasks and its content; gives the paths that are gone. `stopped` is asked between
 * files. Rejects with what the file system says.
 */
export async function removeLeftovers(
  folder: string,
  stopped: () => boolean = () => false,
): Promise<string[]> {
  const gone: string[] = [];
  for (const each of await foldersOf(folder))
    for (const entry of await entriesOf(each)) {
      if (stopped()) return gone;
      const path = join(each, entry.name);
      if (entry.isFile() && (await removeOne(path, folder))) gone.push(path);
    }
  return gone;
}

/** Itself, those of its tasks, and those of content; it may lie where others have folders of their own, which are not looked into further. */
async function foldersOf(folder: string): Promise<string[]> {
  const tasks = await subfoldersOf(folder);
  const content = await subfoldersOf(join(folder, "blobs"));
  return [folder, ...tasks, ...content];
}

async function subfoldersOf(folder: string): Promise<string[]> {
  const entries = await entriesOf(folder);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    // Locks last: they tell whose the rest is.
    const isLock = ({ name }: Dirent): number => (names.lock.test(name) ? 1 : 0);
    return entries.sort((a, b) => isLock(a) - isLock(b));
  } catch (error) {
    // Another process removes folders of tasks that are empty.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Whether it was a leftover, and is gone. */
async function removeOne(path: string, folder: string): Promise<boolean> {
  const name = basename(path);
  if (names.state.test(name)) {
    const file = path.replace(endings.state, "");
    // Versions before this one took no states: nobody says whose it is.
    if (!existsSync(lockPath(file)) && !(await hasRested(path))) return false;
    return removeTaken(file, path);
  }
  if (names.lock.test(name)) return removeLock(path.replace(endings.lock, ""));
  if (names.claim.test(name)) {
    if (!isAbandoned(path)) return false;
    rmSync(path, { force: true });
    return true;
  }
  if (names.recovered.test(name)) return removeTaken(path.replace(endings.recovered, ""), path);
  if (names.index.test(name)) return removeTaken(pruneFile(dirname(path)), path);
  if (names.blob.test(name)) {
    if (!(await hasRested(path))) return false;
    rmSync(path, { force: true });
    return true;
  }
  return names.aside.test(name) && putBack(path, folder);
}

/** What pruning a folder takes: no file has that name. */
export function pruneFile(folder: string): string {
  return join(folder, "prune");
}

/** A lock whose file is there is left to whoever finishes that file. */
function removeLock(file: string): boolean {
  if (existsSync(file) || !take(file)) return false;
  release(file);
  return true;
}

/** Takes `file`, so that nobody else is at it, and removes `path`. */
function removeTaken(file: string, path: string): boolean {
  if (!take(file)) return false;
  try {
    rmSync(path, { force: true });
    return true;
  } finally {
    release(file);
  }
}

/** Content that a killed pruning had moved aside and not removed yet goes back: it may have been used meanwhile. */
function putBack(aside: string, folder: string): boolean {
  const lock = pruneFile(folder);
  if (!take(lock)) return false;
  try {
    if (existsSync(aside)) renameSync(aside, aside.slice(0, -".pruned.tmp".length));
    return true;
  } finally {
    release(lock);
  }
}

async function hasRested(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null);
  return stats !== null && Date.now() - stats.mtimeMs > blobGraceMs;
}
