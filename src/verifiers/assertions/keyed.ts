/** Tables whose rows have names: paired by key columns, compared cell by cell, whatever the order of columns. */
import { show } from "../evidence.js";
import type { Cell } from "../value.js";
import type { Demands, GroundTable } from "./ground.js";
import { cellEquals, type TableValue } from "./table.js";

export type KeyedTable = GroundTable & { key: string[]; columns: string[]; rows: Cell[][] };

/** Differences that evidence names. */
const SHOWN = 5;

/**
 * Judges a table by key. `columns` names the cells of `rows`; further columns of the table are ignored. `list` wants the keys in the
 * same order, `set` in any, `includes` allows further rows. A key that stands twice in the table is not a key, and fails.
 */
export function judgeKeyed(assertion: KeyedTable, table: TableValue, demands: Demands): void {
  const { columns, key, as, tolerance, partial } = assertion;
  const missing = columns.filter((name) => !table.columns.includes(name));
  if (missing.length > 0) {
    demands.add(false, `lacks the columns ${show(missing)}: saw ${show(table.columns)}`);
    return;
  }
  const places = columns.map((name) => table.columns.indexOf(name));
  const seen = table.rows.map((row) => places.map((place) => row[place] as Cell));
  const keyPlaces = key.map((name) => columns.indexOf(name));
  const keyOf = (row: Cell[]): string => JSON.stringify(keyPlaces.map((place) => row[place]));
  const byKey = new Map<string, Cell[]>();
  const faults: string[] = [];
  for (const row of seen) {
    const name = keyOf(row);
    if (byKey.has(name)) faults.push(`the key ${name} stands twice`);
    byKey.set(name, row);
  }
  let matched = 0;
  const wantedKeys = new Set<string>();
  for (const row of assertion.rows) {
    const name = keyOf(row);
    wantedKeys.add(name);
    const found = byKey.get(name);
    if (found === undefined) {
      faults.push(`there is no row ${name}`);
      continue;
    }
    const at = row.findIndex((cell, index) => !cellEquals(cell, found[index] as Cell, tolerance));
    if (at === -1) matched++;
    else faults.push(`row ${name}, ${columns[at] ?? at}: wanted ${show(row[at])}, saw ${show(found[at])}`);
  }
  const extra = as === "includes" ? [] : [...byKey.keys()].filter((name) => !wantedKeys.has(name));
  faults.push(...extra.map((name) => `row ${name} is too much`));
  if (as === "list" && faults.length === 0) {
    const order = assertion.rows.map(keyOf);
    const at = seen.findIndex((row, index) => keyOf(row) !== order[index]);
    if (at !== -1) faults.push(`row ${at} is ${keyOf(seen[at] as Cell[])}, not ${order[at] ?? "there"}`);
  }
  const whole = assertion.rows.length + extra.length;
  const share = whole === 0 ? 1 : matched / whole;
  const shown = faults.slice(0, SHOWN).join("; ");
  const more = faults.length > SHOWN ? `; and ${faults.length - SHOWN} more` : "";
  demands.addScore(
    faults.length === 0 ? 1 : partial ? Math.min(share, 1 - 1 / (whole + 1)) : 0,
    faults.length === 0 ? `${matched} rows as expected` : shown + more,
  );
}
