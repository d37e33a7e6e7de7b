import { show } from "../evidence.js";
import { type Cell, ContentFault, type Judgement } from "../value.js";
import { Demands, type GroundTable } from "./ground.js";
import { MATCHING_LIMIT, matchByKey, matchByRelation } from "./matching.js";
import { judgeKeyed } from "./keyed.js";
import { normaliseText } from "./normalise.js";
import { inRange, rangeText } from "./range.js";

export interface TableValue {
  columns: string[];
  rows: Cell[][];
}

/** Cells are equal if type and value are; NULL equals NULL and nothing else. */
export function cellEquals(a: Cell, b: Cell, tolerance: number): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= tolerance;
  if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) return a.blob === b.blob;
  return a === b;
}

function rowEquals(a: Cell[], b: Cell[], tolerance: number): boolean {
  return a.length === b.length && a.every((cell, index) => cellEquals(cell, b[index] as Cell, tolerance));
}

/** Judges a table. */
export function judgeTable(given: GroundTable, seen: TableValue): Judgement {
  const { assertion, table } = normalised(given, seen);
  const demands = new Demands();
  if (assertion.key !== undefined && assertion.columns !== undefined && assertion.rows !== undefined) {
    judgeKeyed(
      { ...assertion, key: assertion.key, columns: assertion.columns, rows: assertion.rows },
      table,
      demands,
    );
  } else if (assertion.columns !== undefined) {
    demands.add(
      JSON.stringify(assertion.columns) === JSON.stringify(table.columns),
      `columns ${show(assertion.columns)}: saw ${show(table.columns)}`,
    );
  }
  if (assertion.row_count !== undefined) {
    const count = table.rows.length;
    demands.add(inRange(count, assertion.row_count), `${rangeText(assertion.row_count)} rows: saw ${count}`);
  }
  for (const wanted of assertion.cells ?? []) judgeCell(wanted, table, assertion.tolerance, demands);
  if (assertion.rows !== undefined && assertion.key === undefined)
    judgeRows(assertion.rows, table.rows, assertion, demands);
  return demands.judge();
}

/** Both sides with their text cells normalised. */
function normalised(
  assertion: GroundTable,
  table: TableValue,
): { assertion: GroundTable; table: TableValue } {
  const { normalise, rows, cells } = assertion;
  if (normalise.length === 0) return { assertion, table };
  const plain = (cell: Cell): Cell => (typeof cell === "string" ? normaliseText(cell, normalise) : cell);
  const all = (list: Cell[][]): Cell[][] => list.map((row) => row.map(plain));
  return {
    assertion: {
      ...assertion,
      ...(rows === undefined ? {} : { rows: all(rows) }),
      ...(cells === undefined
        ? {}
        : {
            cells: cells.map((cell) =>
              typeof cell.equals === "string"
                ? { ...cell, equals: normaliseText(cell.equals, normalise) }
                : cell,
            ),
          }),
    },
    table: { columns: table.columns, rows: all(table.rows) },
  };
}

type CellDemand = NonNullable<GroundTable["cells"]>[number];

function judgeCell(wanted: CellDemand, table: TableValue, tolerance: number, demands: Demands): void {
  const place = `row ${wanted.row}, column ${wanted.column}`;
  const column = typeof wanted.column === "number" ? wanted.column : table.columns.indexOf(wanted.column);
  const cell = column < 0 ? undefined : table.rows[wanted.row]?.[column];
  if (cell === undefined) {
    demands.add(false, `there is no ${place}`);
    return;
  }
  if (wanted.equals !== undefined) {
    demands.add(
      cellEquals(cell, wanted.equals, tolerance),
      `${place} equals ${show(wanted.equals)}: saw ${show(cell)}`,
    );
  }
  if (wanted.min === undefined && wanted.max === undefined) return;
  if (typeof cell !== "number")
    throw new ContentFault(`${place} is ${show(cell)}, not a number, and lies in no range`);
  demands.add(
    inRange(cell, { min: wanted.min, max: wanted.max }),
    `${place} ${rangeText({ min: wanted.min, max: wanted.max })}: saw ${cell}`,
  );
}

function judgeRows(wanted: Cell[][], seen: Cell[][], assertion: GroundTable, demands: Demands): void {
  const { as, tolerance, partial } = assertion;
  const matched =
    as === "list" ? matchInOrder(wanted, seen, tolerance) : matchAnyOrder(wanted, seen, tolerance);
  const whole = as === "includes" ? wanted.length : Math.max(wanted.length, seen.length);
  const share = whole === 0 ? 1 : matched / whole;
  const lengthNote = seen.length === wanted.length ? "" : `; ${seen.length} rows instead of ${wanted.length}`;
  const evidence =
    share === 1
      ? `${matched} rows as expected`
      : `${matched} of ${wanted.length} expected rows (${as})${lengthNote}: saw ${show(seen.slice(0, 5))}`;
  demands.addScore(partial ? share : Math.floor(share), evidence);
}

function matchInOrder(wanted: Cell[][], seen: Cell[][], tolerance: number): number {
  return wanted.filter((row, index) => {
    const other = seen[index];
    return other !== undefined && rowEquals(row, other, tolerance);
  }).length;
}

function matchAnyOrder(wanted: Cell[][], seen: Cell[][], tolerance: number): number {
  if (tolerance === 0) return matchByKey(wanted, seen, (row) => JSON.stringify(row));
  if (Math.max(wanted.length, seen.length) > MATCHING_LIMIT) {
    throw new ContentFault(`more than ${MATCHING_LIMIT} rows cannot be paired with a tolerance`);
  }
  return matchByRelation(wanted, seen, (a, b) => rowEquals(a, b, tolerance));
}
