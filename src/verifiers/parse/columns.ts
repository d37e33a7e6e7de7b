/** Columns of a table by name or number. */
import { nearest } from "../../errors/nearest.js";
import { ContentFault } from "../value.js";

/** The number of a column. Throws `ContentFault` with the name that was probably meant. */
export function columnOf(name: string | number, columns: readonly string[], what: string): number {
  const column = typeof name === "number" ? name : columns.indexOf(name);
  if (column >= 0 && column < columns.length) return column;
  const meant = typeof name === "string" ? nearest(name, columns) : undefined;
  const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
  throw new ContentFault(`${what} has no column ${JSON.stringify(name)}${hint}`);
}
