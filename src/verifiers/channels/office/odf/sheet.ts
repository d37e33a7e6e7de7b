/** A sheet of OpenDocument beside its cells, and the workbook around it. */
import type { Json } from "../../../assertions/schema.js";
import { childOf, childrenOf, descend, findAll, type XmlNode } from "../../../parse/xml.js";
import { columnName, placeName } from "../xlsx/reference.js";
import type { OdsSheet } from "./cells.js";
import { commentsOf } from "./document.js";
import { Texts } from "./text.js";

/** Columns that are listed one by one. */
const COLUMN_LIMIT = 20_000;

/** `{sheets: [{name, state, kind}], date_system, names: [{name, sheet, refers_to, hidden}]}`. */
export function describeBook(root: XmlNode, sheets: readonly OdsSheet[]): Json {
  const book = descend(root, "body", "spreadsheet");
  const epoch = descend(book, "calculation-settings", "null-date")?.attributes.get("date-value");
  return {
    sheets: sheets.map((sheet) => ({ name: sheet.name, state: stateOf(root, sheet), kind: "worksheet" })),
    date_system: epoch === "1904-01-01" ? 1904 : 1900,
    names: findAll(book, "named-range").map(({ attributes }) => ({
      name: attributes.get("name") ?? "",
      sheet: null,
      refers_to: attributes.get("cell-range-address") ?? "",
      hidden: false,
    })),
  };
}

/**
 * `{name, state, kind, merged, hidden_rows, hidden_columns, auto_filter, protected, comments, links, charts, images}`;
 * `charts` and `images` are how many there are.
 */
export function describeOdsSheet(root: XmlNode, sheet: OdsSheet, what: string): Json {
  const texts = new Texts(what);
  const ranges = findAll(descend(root, "body", "spreadsheet"), "database-range");
  const filter = ranges.find(
    ({ attributes }) =>
      attributes.get("display-filter-buttons") === "true" &&
      sheetOf(attributes.get("target-range-address") ?? "") === sheet.name,
  );
  const shapes = childOf(sheet.node, "shapes");
  return {
    name: sheet.name,
    state: stateOf(root, sheet),
    kind: "worksheet",
    merged: sheet.merged,
    hidden_rows: sheet.hiddenRows,
    hidden_columns: hiddenColumns(sheet.node),
    auto_filter: filter?.attributes.get("target-range-address") ?? null,
    protected: sheet.node.attributes.get("protected") === "true",
    comments: sheet.extras.flatMap((cell) =>
      commentsOf(cell.node, texts).map((comment) => ({ cell: placeName(cell), ...(comment as object) })),
    ),
    links: sheet.extras.flatMap((cell) =>
      findAll(cell.node, "a").map((link) => ({
        cell: placeName(cell),
        target: link.attributes.get("xlink:href") ?? null,
      })),
    ),
    charts: findAll(shapes, "object").length + inCells(sheet, "object"),
    images: findAll(shapes, "image").length + inCells(sheet, "image"),
  };
}

function inCells({ extras }: OdsSheet, name: string): number {
  return extras.reduce((sum, { node }) => sum + findAll(node, name).length, 0);
}

/** A sheet is hidden by its style. */
function stateOf(root: XmlNode, { node }: OdsSheet): string {
  const name = node.attributes.get("style-name");
  const style = childrenOf(childOf(root, "automatic-styles"), "style").find(
    ({ attributes }) => attributes.get("name") === name && attributes.get("family") === "table",
  );
  return childOf(style, "table-properties")?.attributes.get("table:display") === "false"
    ? "hidden"
    : "visible";
}

function hiddenColumns(table: XmlNode): string[] {
  const hidden: string[] = [];
  let column = 1;
  for (const { attributes } of columnsOf(table)) {
    const count = Number(attributes.get("number-columns-repeated") ?? 1);
    if (!Number.isSafeInteger(count) || count < 1) break;
    if (["collapse", "filter"].includes(attributes.get("visibility") ?? ""))
      for (let at = column; at < column + count && hidden.length < COLUMN_LIMIT; at++)
        hidden.push(columnName(at));
    column += count;
  }
  return hidden;
}

function columnsOf(node: XmlNode): XmlNode[] {
  return node.children.flatMap((child) => {
    if (child.name === "table-column") return [child];
    return ["table-columns", "table-header-columns", "table-column-group"].includes(child.name)
      ? columnsOf(child)
      : [];
  });
}

/** The sheet of `$Sheet1.A1:$Sheet1.C9` or `'My sheet'.A1`. */
function sheetOf(address: string): string {
  const [, quoted, bare] = /^\$?(?:'((?:[^']|'')*)'|([^.'$]+))\./.exec(address) ?? [];
  return quoted?.replaceAll("''", "'") ?? bare ?? "";
}
