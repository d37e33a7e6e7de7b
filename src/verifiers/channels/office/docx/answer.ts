/** Answers of a document. */
import { childOf, type XmlNode } from "../../../parse/xml.js";
import { type Answer, type Cell, ContentFault } from "../../../value.js";
import { type OfficePackage, wholeOf } from "../package.js";
import type { OfficeQuery } from "../query.js";
import { rowsTable } from "../rows.js";
import { describeDocument } from "./document.js";
import { blocksOf, blockText, cellsOf, paragraphText } from "./text.js";

type DocumentQuery = Extract<OfficeQuery, { kind: "text" | "paragraphs" | "document" | "table" }>;

/** Columns of a table; Word has at most 63. */
const COLUMN_LIMIT = 1_000;

export function documentAnswer(file: OfficePackage, root: XmlNode, query: DocumentQuery): Answer {
  const body = childOf(root, "body");
  if (body === undefined) throw new ContentFault(`${file.what} is a document without a body`);
  const blocks = blocksOf(body);
  switch (query.kind) {
    case "text":
      return { type: "text", value: blockText(body) };
    case "paragraphs":
      return { type: "list", value: blocks.filter(({ name }) => name === "p").map(paragraphText) };
    case "document":
      return { type: "json", value: describeDocument(file, body) };
    case "table": {
      const tables = blocks.filter(({ name }) => name === "tbl");
      const table = tables[query.table - 1];
      if (table === undefined)
        return { absent: `${file.what} has ${tables.length} tables and no table ${query.table}` };
      return rowsTable(
        cellsOf(table).map((row) => spannedCells(row, file.what)),
        query.header,
        file.what,
      );
    }
  }
}

function* spannedCells(row: readonly XmlNode[], what: string): Generator<Cell[]> {
  for (const cell of row) yield spanned(cell, what);
}

function spanned(cell: XmlNode, what: string): Cell[] {
  const properties = childOf(cell, "tcPr");
  const span = wholeOf(childOf(properties, "gridSpan"), "val") ?? 1;
  if (span < 1 || span > COLUMN_LIMIT) throw new ContentFault(`${what} has a cell over ${span} columns`);
  const merge = childOf(properties, "vMerge");
  const goesOn = merge !== undefined && merge.attributes.get("val") !== "restart";
  return [goesOn ? null : blockText(cell), ...Array.from({ length: span - 1 }, (): Cell => null)];
}
