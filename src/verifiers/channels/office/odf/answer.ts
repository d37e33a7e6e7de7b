/** Answers of OpenDocument files. */
import type { Json } from "../../../assertions/schema.js";
import { setKey } from "../../../parse/tree.js";
import { childOf, childrenOf, descend, type XmlNode } from "../../../parse/xml.js";
import { type Answer, type Cell, ContentFault } from "../../../value.js";
import { gridTable, gridText, gridValue } from "../grid.js";
import type { OfficeQuery, WorkbookQuery } from "../query.js";
import { rowsTable } from "../rows.js";
import { areaOf, placeOf } from "../xlsx/reference.js";
import { type OdsCell, readSheets } from "./cells.js";
import { describeText } from "./document.js";
import type { OpenDocument } from "./file.js";
import { describeBook, describeOdsSheet } from "./sheet.js";
import { blocksOf, isParagraph, rowsOf, Texts } from "./text.js";

/** Columns that one cell of a document's table may span or stand for. */
const COLUMN_LIMIT = 1_000;

type TextQuery = Extract<OfficeQuery, { kind: "text" | "paragraphs" | "document" | "table" }>;

/** Answers of a document (ODT). */
export function textAnswer(file: OpenDocument, query: TextQuery): Answer {
  const content = file.xml("content.xml");
  const body = descend(content, "body", "text");
  if (body === undefined) throw new ContentFault(`${file.what} is a document without a body`);
  const texts = new Texts(file.what);
  switch (query.kind) {
    case "text":
      return { type: "text", value: texts.block(body) };
    case "paragraphs":
      return {
        type: "list",
        value: blocksOf(body)
          .filter(isParagraph)
          .map((paragraph) => texts.of(paragraph)),
      };
    case "document":
      return { type: "json", value: describeText(file, content, body) };
    case "table": {
      const tables = blocksOf(body).filter(({ name }) => name === "table");
      const table = tables[query.table - 1];
      if (table === undefined)
        return { absent: `${file.what} has ${tables.length} tables and no table ${query.table}` };
      return rowsTable(tableRows(table, texts, file.what), query.header, file.what);
    }
  }
}

function* tableRows(table: XmlNode, texts: Texts, what: string): Generator<Iterable<Cell[]>> {
  for (const row of rowsOf(table))
    for (let copy = repeats(row, "number-rows-repeated", what); copy > 0; copy--)
      yield cellsOf(row, texts, what);
}

function* cellsOf(row: XmlNode, texts: Texts, what: string): Generator<Cell[]> {
  for (const cell of row.children) {
    const covered = cell.name === "covered-table-cell";
    if (!covered && cell.name !== "table-cell") continue;
    const text = covered ? null : texts.block(cell);
    yield Array.from({ length: repeats(cell, "number-columns-repeated", what) }, () => text);
  }
}

function repeats(node: XmlNode, attribute: string, what: string): number {
  const text = node.attributes.get(attribute) ?? "1";
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= COLUMN_LIMIT) return Number(text);
  throw new ContentFault(`${what} has a table with ${text.slice(0, 20)} rows or columns alike`);
}

/** The texts of all sheets of a workbook (ODS). */
export function bookText(file: OpenDocument): string {
  return gridText(
    readSheets(file, {}).sheets.map(({ cells }) => cells),
    file.what,
  );
}

/** Answers of a workbook (ODS). */
export function bookAnswer(file: OpenDocument, query: WorkbookQuery): Answer {
  const { what } = file;
  if (query.kind === "style") throw new ContentFault(`${what} is an OpenDocument, of which no style is read`);
  if (query.kind === "workbook" || query.kind === "sheets") {
    const book = readSheets(file, { sheet: 0 });
    if (query.kind === "sheets") return { type: "list", value: book.sheets.map(({ name }) => name) };
    return { type: "json", value: describeBook(book.root, book.sheets) };
  }
  const area =
    query.kind === "range"
      ? query.range === undefined
        ? undefined
        : areaOf(query.range, what)
      : query.kind === "sheet"
        ? undefined
        : { from: placeOf(query.cell, what), to: placeOf(query.cell, what) };
  const { root, sheets } = readSheets(file, { sheet: query.sheet, area });
  const sheet =
    typeof query.sheet === "number"
      ? sheets[query.sheet - 1]
      : sheets.find(({ name }) => name === query.sheet);
  if (sheet === undefined) return { absent: `${what} has no sheet ${JSON.stringify(query.sheet)}` };
  if (query.kind === "sheet") return { type: "json", value: describeOdsSheet(root, sheet, what) };
  if (query.kind === "range")
    return gridTable(sheet.cells, area, query.header, `${what}: sheet ${sheet.name}`);
  const found = gridValue(sheet.cells[0], query.kind, `${what}: ${sheet.name}!${query.cell}`);
  return "cell" in found ? { type: "json", value: describeCell(found.cell) } : found;
}

function describeCell({ value, formula, format }: OdsCell): Json {
  return {
    type: value.type,
    value: value.value,
    formula: formula === undefined ? null : `=${formula}`,
    format,
    date: value.type === "date" ? value.value : null,
  };
}

const meta = {
  title: "title",
  subject: "subject",
  author: "initial-creator",
  description: "description",
  last_modified_by: "creator",
  revision: "editing-cycles",
  created: "creation-date",
  modified: "date",
  application: "generator",
} as const;

/** What a file says of itself, in the words of Office Open XML; it has no category and no status. */
export function openDocumentProperties(file: OpenDocument): Json {
  const root = file.has("meta.xml") ? childOf(file.xml("meta.xml"), "meta") : undefined;
  const found: { [key: string]: Json } = { category: null, status: null };
  for (const [name, element] of Object.entries(meta)) found[name] = childOf(root, element)?.text ?? null;
  const keywords = childrenOf(root, "keyword").map(({ text }) => text);
  found.keywords = keywords.length === 0 ? null : keywords.join(", ");
  const custom: { [key: string]: Json } = {};
  for (const node of childrenOf(root, "user-defined"))
    setKey(custom, node.attributes.get("name") ?? "", node.text);
  found.custom = custom;
  return found;
}
