/** Columns that a query names are among those that its check expects. */
import { nearest } from "../../errors/nearest.js";
import type { CheckNode } from "../schema.js";
import { fault, type Path } from "./fault.js";

/**
 * Refuses columns of numbers that the table which passes cannot have: where `columns` names all of them (with `key` only
 * those of `rows`), or where they have numbers for want of a header. Throws `bad_task`.
 */
export function proveColumns(check: CheckNode, path: Path): void {
  const { assert, query } = check;
  if (assert.type !== "table" || !("numeric" in query)) return;
  const columns = assert.key === undefined ? assert.columns : undefined;
  query.numeric.forEach((name, index) => {
    if (typeof name === "number") return;
    const at = [...path, "query", "numeric", index];
    if (!query.header && !/^\d+$/.test(name))
      throw fault(
        at,
        `without a header no column is called ${JSON.stringify(name)}`,
        "say its number, from 0",
      );
    if (columns === undefined || columns.includes(name)) return;
    const meant = nearest(name, columns);
    throw fault(at, `there is no column ${JSON.stringify(name)}`, meant && `did you mean "${meant}"?`);
  });
}
