/** The working tree against a tree or the index, by content. */
import ignore, { type Ignore } from "ignore";
import { SUBMODULE, type TreeFile } from "./contents.js";
import type { Index } from "./index-file.js";
import { nameOf } from "./objects.js";
import type { Snapshot, WorkFile } from "./snapshot.js";

/** Files of the working tree by path, named as git would name their content. Filters and line endings are left alone. */
export function workTree(work: readonly WorkFile[]): Map<string, TreeFile> {
  return new Map(work.map(({ path, mode, bytes }) => [path, { mode, hash: nameOf("blob", bytes) }]));
}

const same = (a: TreeFile | undefined, b: TreeFile | undefined): boolean =>
  a?.mode === b?.mode && a?.hash === b?.hash;

/** Paths that are not the same in both, sorted. Submodules do not count where the other side is a working tree. */
export function changedPaths(
  from: ReadonlyMap<string, TreeFile>,
  to: ReadonlyMap<string, TreeFile>,
): string[] {
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((path) => !same(from.get(path), to.get(path)))
    .sort();
}

export function withoutSubmodules(files: ReadonlyMap<string, TreeFile>): Map<string, TreeFile> {
  return new Map([...files].filter(([, { mode }]) => mode !== SUBMODULE));
}

/** Rules of `.gitignore` files and `info/exclude`; the user's own file is not of the repository. */
export class Ignored {
  private readonly rules = new Map<string, Ignore>();

  constructor({ files, work }: Snapshot) {
    const add = (folder: string, bytes: Uint8Array): void => {
      const rules = this.rules.get(folder) ?? ignore({ allowRelativePaths: true });
      this.rules.set(folder, rules.add(Buffer.from(bytes).toString("utf8")));
    };
    const exclude = files.get("info/exclude");
    if (exclude !== undefined) add("", exclude);
    for (const { path, mode, bytes } of work ?? [])
      if (/(?:^|\/)\.gitignore$/.test(path) && mode !== 0o120000)
        add(path.slice(0, -".gitignore".length), bytes);
  }

  /** True if a rule takes the path, or a folder that it lies in, away. */
  has(path: string): boolean {
    const parts = path.split("/");
    return parts.some((_, index) => {
      const last = index === parts.length - 1;
      return this.decides(`${parts.slice(0, index + 1).join("/")}${last ? "" : "/"}`);
    });
  }

  /** The deepest file with a rule about it decides. */
  private decides(path: string): boolean {
    let result = false;
    const parts = path.replace(/\/$/, "").split("/");
    for (let depth = 0; depth < parts.length; depth++) {
      const folder = depth === 0 ? "" : `${parts.slice(0, depth).join("/")}/`;
      const verdict = this.rules.get(folder)?.test(path.slice(folder.length));
      if (verdict?.ignored === true) result = true;
      if (verdict?.unignored === true) result = false;
    }
    return result;
  }
}

export type StatusRow = [path: string, staged: string, unstaged: string];

function change(before: TreeFile | undefined, after: TreeFile | undefined): string {
  if (same(before, after)) return "";
  if (before === undefined) return "added";
  return after === undefined ? "deleted" : "modified";
}

/** What differs between HEAD and the index (staged), and the index and the working tree (unstaged); sorted by path. */
export function statusRows(
  head: ReadonlyMap<string, TreeFile>,
  index: Index,
  work: ReadonlyMap<string, TreeFile>,
  ignored: Ignored,
): StatusRow[] {
  const rows: StatusRow[] = [];
  const paths = new Set([...head.keys(), ...index.files.keys(), ...index.unmerged, ...work.keys()]);
  for (const path of [...paths].sort()) {
    if (index.unmerged.has(path)) {
      rows.push([path, "unmerged", "unmerged"]);
      continue;
    }
    const listed = index.files.get(path);
    if (listed?.mode === SUBMODULE) continue;
    const staged = change(head.get(path), listed);
    const there = work.get(path);
    const untracked = listed === undefined && there !== undefined;
    if (untracked && ignored.has(path) && staged === "") continue;
    const unstaged = untracked ? "untracked" : change(listed, there);
    if (staged !== "" || unstaged !== "") rows.push([path, staged, unstaged]);
  }
  return rows;
}
