/** A sheet beside its cells: layout, filters, charts, pivot tables. */
import type { Json } from "../../../assertions/schema.js";
import { setKey } from "../../../parse/tree.js";
import { childOf, childrenOf, descend, findAll, type XmlNode } from "../../../parse/xml.js";
import { ContentFault } from "../../../value.js";
import { chartOf } from "../chart.js";
import { numberOf, wholeOf } from "../package.js";
import { readSheet } from "./cells.js";
import { pivotOf } from "./pivot.js";
import { columnName, placeName } from "./reference.js";
import { colorOf } from "./styles.js";
import { richText, says, type Sheet, type Workbook } from "./workbook.js";

/** Columns that are listed one by one: all that a sheet has, and some that are named twice. */
const COLUMN_LIMIT = 20_000;

type Fields = { [key: string]: Json };

/** Everything that a sheet has beside cells. References as written, columns by their letters, rows by their numbers. */
export function describeSheet(workbook: Workbook, sheet: Sheet): Json {
  const common = { name: sheet.name, state: sheet.state, kind: sheet.kind };
  if (sheet.kind !== "worksheet") return common;
  const { root, rows } = readSheet(workbook, sheet, {
    from: { row: 0, column: 0 },
    to: { row: 0, column: 0 },
  });
  const view = descend(root, "sheetViews", "sheetView");
  const references = (list: string, item: string): string[] =>
    childrenOf(childOf(root, list), item).map(({ attributes }) => attributes.get("ref") ?? "");
  const heights: Fields = {};
  const hidden: number[] = [];
  for (const [row, attributes] of rows) {
    const node: XmlNode = { name: "row", attributes, children: [], text: "" };
    const height = numberOf(node, "ht");
    if (height !== undefined) heights[row] = height;
    if (says(node, "hidden")) hidden.push(row);
  }
  return {
    ...common,
    merged: references("mergeCells", "mergeCell"),
    ...columnsOf(workbook, root),
    hidden_rows: hidden,
    row_heights: heights,
    frozen: frozenOf(view),
    gridlines: view?.attributes.has("showGridLines") === true ? says(view, "showGridLines") : true,
    auto_filter: childOf(root, "autoFilter")?.attributes.get("ref") ?? null,
    tab_color: colorOf(descend(root, "sheetPr", "tabColor")),
    protected: childOf(root, "sheetProtection") !== undefined,
    conditional_formats: findAll(root, "conditionalFormatting").flatMap(conditionalOf),
    validations: findAll(root, "dataValidation").map(validationOf),
    links: linksOf(workbook, sheet, root),
    comments: commentsOf(workbook, sheet),
    tables: relatedTables(workbook, sheet),
    pivots: partsOf(workbook, sheet, "pivotTable").map((part) => pivotOf(workbook, part)),
    ...drawingsOf(workbook, sheet),
  };
}

function partsOf({ file }: Workbook, sheet: Sheet, type: string): string[] {
  return file
    .relations(sheet.part)
    .filter((relation) => relation.type === type && !relation.external)
    .map(({ target }) => target);
}

function columnsOf({ file }: Workbook, root: XmlNode): Fields {
  const widths: Fields = {};
  const hidden: string[] = [];
  let listed = 0;
  for (const column of childrenOf(childOf(root, "cols"), "col")) {
    const from = wholeOf(column, "min") ?? 1;
    const to = wholeOf(column, "max") ?? from;
    const width = numberOf(column, "width");
    const isHidden = says(column, "hidden");
    // The last entry of many sheets covers all columns there are, in the width that they have anyway.
    if (!isHidden && !says(column, "customWidth")) continue;
    for (let number = from; number <= to; number++) {
      if (++listed > COLUMN_LIMIT)
        throw new ContentFault(`${file.what} sets more than ${COLUMN_LIMIT} columns`);
      if (isHidden) hidden.push(columnName(number));
      else if (width !== undefined) widths[columnName(number)] = width;
    }
  }
  return { hidden_columns: hidden, column_widths: widths };
}

function frozenOf(view: XmlNode | undefined): Json {
  const pane = childOf(view, "pane");
  if (!pane?.attributes.get("state")?.startsWith("frozen")) return null;
  return { rows: numberOf(pane, "ySplit") ?? 0, columns: numberOf(pane, "xSplit") ?? 0 };
}

function conditionalOf(node: XmlNode): Json[] {
  return childrenOf(node, "cfRule").map((rule) => ({
    range: node.attributes.get("sqref") ?? "",
    type: rule.attributes.get("type") ?? "",
    operator: rule.attributes.get("operator") ?? null,
    formulas: childrenOf(rule, "formula").map(({ text }) => text),
  }));
}

function validationOf(node: XmlNode): Json {
  const formula = (name: string): string | null => childOf(node, name)?.text ?? null;
  return {
    range: node.attributes.get("sqref") ?? "",
    type: node.attributes.get("type") ?? "none",
    operator: node.attributes.get("operator") ?? "between",
    formula1: formula("formula1"),
    formula2: formula("formula2"),
  };
}

function linksOf({ file }: Workbook, sheet: Sheet, root: XmlNode): Fields {
  const links: Fields = {};
  for (const { attributes } of childrenOf(childOf(root, "hyperlinks"), "hyperlink")) {
    const outside = file.related(sheet.part, attributes.get("r:id"))?.target;
    setKey(links, attributes.get("ref") ?? "", outside ?? attributes.get("location") ?? null);
  }
  return links;
}

function commentsOf(workbook: Workbook, sheet: Sheet): Json[] {
  return partsOf(workbook, sheet, "comments").flatMap((part) => {
    const root = workbook.file.xml(part);
    const authors = childrenOf(childOf(root, "authors"), "author").map(({ text }) => text);
    return childrenOf(childOf(root, "commentList"), "comment").map((comment) => ({
      cell: comment.attributes.get("ref") ?? "",
      author: authors[wholeOf(comment, "authorId") ?? -1] ?? null,
      text: richText(childOf(comment, "text")),
    }));
  });
}

function relatedTables(workbook: Workbook, sheet: Sheet): Json[] {
  return partsOf(workbook, sheet, "table").map((part) => {
    const table = workbook.file.xml(part);
    return {
      name: table.attributes.get("displayName") ?? "",
      ref: table.attributes.get("ref") ?? "",
      columns: childrenOf(childOf(table, "tableColumns"), "tableColumn").map(
        ({ attributes }) => attributes.get("name") ?? "",
      ),
      totals: (wholeOf(table, "totalsRowCount") ?? 0) > 0,
    };
  });
}

/** Charts and images with the cells that their corners lie in. */
function drawingsOf(workbook: Workbook, sheet: Sheet): { charts: Json[]; images: Json[] } {
  const charts: Json[] = [];
  const images: Json[] = [];
  for (const part of partsOf(workbook, sheet, "drawing")) {
    for (const anchor of workbook.file.xml(part).children) {
      const at = { from: cornerOf(childOf(anchor, "from")), to: cornerOf(childOf(anchor, "to")) };
      for (const frame of findAll(anchor, "graphicFrame")) {
        const [reference] = findAll(frame, "chart");
        const chart = workbook.file.related(part, reference?.attributes.get("r:id"));
        if (chart !== undefined) charts.push({ ...chartOf(workbook.file, chart.target), ...at });
      }
      for (const picture of findAll(anchor, "pic")) {
        const properties = descend(picture, "nvPicPr", "cNvPr");
        images.push({
          name: properties?.attributes.get("name") ?? null,
          alt: properties?.attributes.get("descr") ?? null,
          ...at,
        });
      }
    }
  }
  return { charts, images };
}

/** Corners count from 0. */
function cornerOf(node: XmlNode | undefined): string | null {
  const row = Number(childOf(node, "row")?.text ?? Number.NaN);
  const column = Number(childOf(node, "col")?.text ?? Number.NaN);
  if (!Number.isSafeInteger(row) || !Number.isSafeInteger(column) || column > 20_000 || column < 0)
    return null;
  return placeName({ row: row + 1, column: column + 1 });
}
