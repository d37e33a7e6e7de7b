/** Cells of a sheet, whatever wrote it: as text, as a table, and one by one. */
import { TreeBudget } from "../../parse/tree.js";
import { type Answer, type Cell, ContentFault } from "../../value.js";
import { type Area, columnName, type Place } from "./xlsx/reference.js";

/** Cells that one query takes up. */
export const CELL_LIMIT = 200_000;

export type CellValue =
  | { type: "number"; value: number }
  | { type: "text" | "error" | "date"; value: string }
  | { type: "boolean"; value: boolean }
  /** A formula that no application has calculated yet. */
  | { type: "uncalculated"; value: null }
  | { type: "empty"; value: null };

export interface GridCell extends Place {
  value: CellValue;
  /** Without the `=` ahead. */
  formula: string | undefined;
}

/** The texts of all sheets: cells apart by tabs, rows by line feeds, sheets by form feeds. */
export function gridText(sheets: readonly (readonly GridCell[])[], what: string): string {
  const budget = new TreeBudget(what);
  return sheets
    .map((cells) => {
      const rows = new Map<number, string[]>();
      for (const cell of cells) {
        const texts = rows.get(cell.row) ?? [];
        texts.push(budget.text(shown(cell)));
        rows.set(cell.row, texts);
      }
      return [...rows.values()].map((texts) => texts.join("\t")).join("\n");
    })
    .join("\f");
}

function shown({ value }: GridCell): string {
  if (value.type === "boolean") return value.value ? "TRUE" : "FALSE";
  return value.value === null ? "" : String(value.value);
}

/** What one cell holds, as text or number, or its formula. `name` names it in faults. */
export function gridValue<OfCell extends GridCell>(
  cell: OfCell | undefined,
  kind: "cell" | "cell_text" | "cell_number" | "formula",
  name: string,
): Answer | { cell: OfCell } {
  if (cell === undefined || (cell.value.type === "empty" && kind !== "formula"))
    return { absent: `${name} is empty` };
  if (kind === "formula") {
    if (cell.formula === undefined) return { absent: `${name} holds no formula` };
    return { type: "text", value: `=${cell.formula}` };
  }
  if (kind === "cell") return { cell };
  const { value } = cell;
  if (kind === "cell_number" && value.type === "number") return { type: "number", value: value.value };
  if (kind === "cell_text" && value.type === "text") return { type: "text", value: value.value };
  throw new ContentFault(`${name} holds ${nameOf(cell)}, not a ${kind.slice(5)}`);
}

function nameOf({ value }: GridCell): string {
  if (value.type === "uncalculated") return "a formula without a stored value";
  return value.type === "error" ? `the error ${value.value}` : `a ${value.type}`;
}

/** Cells as a table: those of an area, or of the smallest that holds all. Throws `ContentFault`. */
export function gridTable(
  cells: readonly GridCell[],
  asked: Area | undefined,
  header: boolean,
  what: string,
): Answer {
  const area = asked ?? usedArea(cells);
  if (area === undefined) return { type: "table", columns: [], rows: [] };
  const width = area.to.column - area.from.column + 1;
  const height = area.to.row - area.from.row + 1;
  if (width * height > CELL_LIMIT)
    throw new ContentFault(`${what}: more than ${CELL_LIMIT} cells are asked for`);
  // One shared text may stand in every cell.
  const budget = new TreeBudget(what);
  const rows: Cell[][] = Array.from({ length: height }, () => Array.from({ length: width }, () => null));
  for (const cell of cells) {
    const row = rows[cell.row - area.from.row];
    if (row !== undefined) row[cell.column - area.from.column] = cellOf(cell, what, budget);
  }
  const letters = Array.from({ length: width }, (_, index) => columnName(area.from.column + index));
  if (!header) return { type: "table", columns: letters, rows };
  const [first = [], ...rest] = rows;
  return {
    type: "table",
    columns: first.map((cell) => (cell === null ? "" : String(cell as string | number))),
    rows: rest,
  };
}

/** A cell of a table. Truth and errors are the text that a sheet shows. */
function cellOf(cell: GridCell, what: string, budget: TreeBudget): Cell {
  const { value } = cell;
  if (value.type === "uncalculated")
    throw new ContentFault(`${what}: ${columnName(cell.column)}${cell.row} holds ${nameOf(cell)}`);
  if (value.type === "boolean") return shown(cell);
  return typeof value.value === "string" ? budget.text(value.value) : value.value;
}

function usedArea(cells: readonly GridCell[]): Area | undefined {
  if (cells.length === 0) return undefined;
  const area = { from: { row: Infinity, column: Infinity }, to: { row: 0, column: 0 } };
  for (const { row, column } of cells) {
    area.from.row = Math.min(area.from.row, row);
    area.from.column = Math.min(area.from.column, column);
    area.to.row = Math.max(area.to.row, row);
    area.to.column = Math.max(area.to.column, column);
  }
  return area;
}
