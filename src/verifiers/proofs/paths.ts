/** Paths that a list can never hold: a tree names what is below its root, a glob whole paths. */
import type { CheckNode } from "../schema.js";
import { fault, type Path } from "./fault.js";

/** Refuses an absolute path as an item of a tree: such an item is never there. Throws `bad_task`. */
export function proveTreePaths(check: CheckNode, path: Path): void {
  if (check.channel !== "fs" || check.query.kind !== "tree") return;
  const { assert } = check;
  if (assert.type !== "list" && assert.type !== "set") return;
  for (const key of ["equals", "contains", "excludes"] as const) {
    const items = assert[key];
    if (!Array.isArray(items)) continue;
    const index = items.findIndex((item) => typeof item === "string" && item.startsWith("/"));
    if (index === -1) continue;
    throw fault(
      [...path, "assert", key, index],
      `a tree holds paths below ${check.query.path}, never one such as ${JSON.stringify(items[index])}`,
      'write the path below the root, a folder with a slash at its end; "glob" gives absolute paths',
    );
  }
}
