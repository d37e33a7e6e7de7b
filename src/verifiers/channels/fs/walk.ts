/** Walking the machine's folders: trees and globs. Links to folders are not entered. */
import { posix } from "node:path";
import type { FileStat } from "../../../sandbox/sandbox.js";
import { ContentFault } from "../../value.js";
import type { MachineView } from "../../view.js";
import { matchesWildcard } from "./wildcard.js";

/** Entries that one query may meet. */
const WALK_LIMIT = 10_000;

export interface Entry {
  /** Absolute path. */
  path: string;
  stat: FileStat;
}

const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

class Budget {
  private left = WALK_LIMIT;
  take(count: number, path: string): void {
    this.left -= count;
    if (this.left < 0) throw new ContentFault(`${path}: more than ${WALK_LIMIT} entries`);
  }
}

async function entries(view: MachineView, folder: string, budget: Budget): Promise<Entry[]> {
  const found = await view.list(folder);
  budget.take(found.length, folder);
  return found.map((stat) => ({ path: posix.join(folder, posix.basename(stat.path)), stat }));
}

/**
 * Everything below a folder, sorted by path. Deeper than `depth` levels is a `ContentFault`, never silently left out.
 * @param skip paths that are left out with all below them
 */
export async function walkTree(
  view: MachineView,
  root: string,
  depth: number,
  skip: (path: string) => boolean = () => false,
): Promise<Entry[]> {
  const budget = new Budget();
  const visit = async (folder: string, left: number): Promise<Entry[]> => {
    const found = (await entries(view, folder, budget)).filter(({ path }) => !skip(path));
    if (left === 0 && found.length > 0) throw new ContentFault(`${root} is deeper than ${depth} levels`);
    const below = await Promise.all(
      found.filter((entry) => entry.stat.type === "directory").map((entry) => visit(entry.path, left - 1)),
    );
    return [...found, ...below.flat()];
  };
  return (await visit(root, depth)).sort(byPath);
}

/**
 * Absolute paths that match a pattern, sorted. `**` stands for any number of folders. A folder that was listed but cannot be entered
 * is a `ContentFault`, never empty.
 */
export async function walkGlob(view: MachineView, pattern: string): Promise<string[]> {
  const segments = pattern.split("/").filter((segment) => segment !== "");
  const budget = new Budget();
  const found = new Set<string>();
  const descend = async (folder: string, at: number, listed?: FileStat): Promise<void> => {
    const segment = segments[at];
    if (segment === undefined) {
      found.add(folder);
      return;
    }
    if (segment !== "**" && !/[*?[]/.test(segment)) {
      const path = posix.join(folder, segment);
      if ((await view.stat(path)) !== null) await descend(path, at + 1);
      return;
    }
    if (segment === "**") await descend(folder, at + 1, listed);
    const isFolder = listed?.type === "directory" || (await view.resolve(folder))?.stat.type === "directory";
    if (!isFolder) return;
    for (const { path, stat } of await entries(view, folder, budget)) {
      if (segment !== "**") {
        if (matchesWildcard(segment, posix.basename(path))) await descend(path, at + 1, stat);
      } else if (stat.type === "directory") await descend(path, at, stat);
    }
  };
  await descend("/", 0);
  return [...found].sort();
}
