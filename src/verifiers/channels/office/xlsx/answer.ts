/** Answers of a workbook. */
import type { Json } from "../../../assertions/schema.js";
import { TreeBudget } from "../../../parse/tree.js";
import type { XmlNode } from "../../../parse/xml.js";
import { childOf, childrenOf } from "../../../parse/xml.js";
import { type Answer, type Cell, ContentFault } from "../../../value.js";
import { type OfficePackage, wholeOf } from "../package.js";
import type { WorkbookQuery } from "../query.js";
import { CELL_LIMIT, readSheet, type SheetCell, type SheetContent } from "./cells.js";
import { dateText, isDateFormat } from "./dates.js";
import { type Area, areaOf, columnName, placeOf } from "./reference.js";
import { describeSheet } from "./sheet.js";
import { Styles } from "./styles.js";
import { type Sheet, Workbook } from "./workbook.js";

export function workbookAnswer(file: OfficePackage, root: XmlNode, query: WorkbookQuery): Answer {
  const workbook = new Workbook(file, root);
  if (query.kind === "workbook") return { type: "json", value: workbook.describe() };
  if (query.kind === "sheets") return { type: "list", value: workbook.sheets.map(({ name }) => name) };
  const sheet = workbook.sheet(query.sheet);
  if (sheet === undefined) return { absent: `${file.what} has no sheet ${JSON.stringify(query.sheet)}` };
  if (query.kind === "sheet") return { type: "json", value: describeSheet(workbook, sheet) };
  if (query.kind === "range") return rangeAnswer(workbook, sheet, query.range, query.header);
  return cellAnswer(workbook, sheet, query);
}

/** The texts of all sheets: cells apart by tabs, rows by line feeds, sheets by form feeds. */
export function workbookText(file: OfficePackage, root: XmlNode): string {
  const workbook = new Workbook(file, root);
  const sheets = workbook.sheets.filter(({ kind }) => kind === "worksheet");
  const budget = new TreeBudget(file.what);
  return sheets
    .map((sheet) => {
      const rows = new Map<number, string[]>();
      for (const cell of readSheet(workbook, sheet).cells) {
        const texts = rows.get(cell.row) ?? [];
        texts.push(budget.text(shown(cell)));
        rows.set(cell.row, texts);
      }
      return [...rows.values()].map((texts) => texts.join("\t")).join("\n");
    })
    .join("\f");
}

function shown({ value }: SheetCell): string {
  if (value.type === "boolean") return value.value ? "TRUE" : "FALSE";
  return value.value === null ? "" : String(value.value);
}

type CellQuery = Extract<WorkbookQuery, { cell: string }>;

function cellAnswer(workbook: Workbook, sheet: Sheet, query: CellQuery): Answer {
  const { what } = workbook.file;
  const place = placeOf(query.cell, what);
  const content = readSheet(workbook, sheet, { from: place, to: place });
  const [cell] = content.cells;
  const name = `${what}: ${sheet.name}!${query.cell}`;
  if (query.kind === "style")
    return {
      type: "json",
      value: new Styles(workbook).describe(cell?.style ?? inheritedStyle(content, place)),
    };
  if (cell === undefined || (cell.value.type === "empty" && query.kind !== "formula"))
    return { absent: `${name} is empty` };
  if (query.kind === "formula") {
    if (cell.formula === undefined) return { absent: `${name} holds no formula` };
    return { type: "text", value: `=${cell.formula}` };
  }
  if (query.kind === "cell") return { type: "json", value: describeCell(workbook, cell) };
  const { value } = cell;
  if (query.kind === "cell_number" && value.type === "number") return { type: "number", value: value.value };
  if (query.kind === "cell_text" && value.type === "text") return { type: "text", value: value.value };
  throw new ContentFault(`${name} holds ${nameOf(cell)}, not a ${query.kind.slice(5)}`);
}

function nameOf({ value }: SheetCell): string {
  if (value.type === "uncalculated") return "a formula without a stored value";
  return value.type === "error" ? `the error ${value.value}` : `a ${value.type}`;
}

/** An empty cell looks as its row says, or its column. */
function inheritedStyle(
  { root, rows }: SheetContent,
  { row, column }: { row: number; column: number },
): number {
  const ofRow = rows.get(row)?.get("s");
  if (ofRow !== undefined) return Number(ofRow);
  const columns = childrenOf(childOf(root, "cols"), "col");
  const found = columns.find(
    (one) => (wholeOf(one, "min") ?? 0) <= column && column <= (wholeOf(one, "max") ?? 0),
  );
  return wholeOf(found, "style") ?? 0;
}

/** `{type, value, formula, format, date}`; a number whose format shows a date has its ISO text beside. */
function describeCell(workbook: Workbook, { value, formula, style }: SheetCell): Json {
  const format = new Styles(workbook).format(style);
  const dated = value.type === "number" && isDateFormat(format);
  return {
    type: value.type,
    value: value.value,
    formula: formula === undefined ? null : `=${formula}`,
    format,
    date: dated ? (dateText(value.value, workbook.from1904) ?? null) : null,
  };
}

function rangeAnswer(workbook: Workbook, sheet: Sheet, range: string | undefined, header: boolean): Answer {
  const what = `${workbook.file.what}: sheet ${sheet.name}`;
  const asked = range === undefined ? undefined : areaOf(range, what);
  const { cells } = readSheet(workbook, sheet, asked);
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
function cellOf(cell: SheetCell, what: string, budget: TreeBudget): Cell {
  const { value } = cell;
  if (value.type === "uncalculated")
    throw new ContentFault(`${what}: ${columnName(cell.column)}${cell.row} holds ${nameOf(cell)}`);
  if (value.type === "boolean") return shown(cell);
  return typeof value.value === "string" ? budget.text(value.value) : value.value;
}

function usedArea(cells: readonly SheetCell[]): Area | undefined {
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
