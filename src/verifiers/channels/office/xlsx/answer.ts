/** Answers of a workbook. */
import type { Json } from "../../../assertions/schema.js";
import type { XmlNode } from "../../../parse/xml.js";
import { childOf, childrenOf } from "../../../parse/xml.js";
import type { Answer } from "../../../value.js";
import { gridTable, gridText, gridValue } from "../grid.js";
import { type OfficePackage, wholeOf } from "../package.js";
import type { WorkbookQuery } from "../query.js";
import { readSheet, type SheetCell, type SheetContent } from "./cells.js";
import { dateText, isDateFormat } from "./dates.js";
import { areaOf, placeOf } from "./reference.js";
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
  if (query.kind === "range") {
    const what = `${file.what}: sheet ${sheet.name}`;
    const asked = query.range === undefined ? undefined : areaOf(query.range, what);
    return gridTable(readSheet(workbook, sheet, asked).cells, asked, query.header, what);
  }
  return cellAnswer(workbook, sheet, query);
}

/** The texts of all sheets. */
export function workbookText(file: OfficePackage, root: XmlNode): string {
  const workbook = new Workbook(file, root);
  const sheets = workbook.sheets.filter(({ kind }) => kind === "worksheet");
  return gridText(
    sheets.map((sheet) => readSheet(workbook, sheet).cells),
    file.what,
  );
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
  const found = gridValue(cell, query.kind, name);
  return "cell" in found ? { type: "json", value: describeCell(workbook, found.cell) } : found;
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
