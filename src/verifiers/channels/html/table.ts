/** A table of an HTML document as rows and columns. */
import type { AnyNode, Element } from "domhandler";
import { columnOf } from "../../parse/columns.js";
import { parseNumber } from "../../parse/text.js";
import { type Cell, ContentFault } from "../../value.js";
import { boundedTexts, textOf } from "../selector.js";

/** Cells of one table, those that a span repeats counted each time. */
const CELL_LIMIT = 100_000;
/** Columns or rows that one cell may span. */
const SPAN_LIMIT = 1_000;

interface TableOptions {
  header: boolean;
  numeric: readonly (string | number)[];
}

const isElement = (node: AnyNode): node is Element => "attribs" in node;

/** Rows of the table itself, not of tables in its cells. */
function rowsOf(table: Element): Element[] {
  return table.children.filter(isElement).flatMap((child) => {
    if (child.name === "tr") return [child];
    return ["thead", "tbody", "tfoot"].includes(child.name)
      ? child.children.filter(isElement).filter(({ name }) => name === "tr")
      : [];
  });
}

function span(cell: Element, name: "colspan" | "rowspan", what: string): number {
  const text = cell.attribs[name] ?? "1";
  const value = /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : 1;
  if (value > SPAN_LIMIT) throw new ContentFault(`${what}: a cell spans more than ${SPAN_LIMIT} cells`);
  return value;
}

/** A cell that spans several stands in each of them. All rows must come out equally wide. Throws `ContentFault`. */
export function readTable(
  table: Element,
  options: TableOptions,
  what: string,
): { columns: string[]; rows: Cell[][] } {
  if (table.name !== "table")
    throw new ContentFault(`${what}: the selector finds <${table.name}>, not a table`);
  const grid: string[][] = [];
  let cells = 0;
  rowsOf(table).forEach((row, at) => {
    const elements = row.children.filter(isElement).filter(({ name }) => name === "td" || name === "th");
    const texts = boundedTexts(elements, (element) => textOf(element, "collapse"), what);
    let column = 0;
    const here = (grid[at] ??= []);
    elements.forEach((element, index) => {
      while (here[column] !== undefined) column++;
      const width = span(element, "colspan", what);
      const height = span(element, "rowspan", what);
      cells += width * height;
      if (cells > CELL_LIMIT) throw new ContentFault(`${what}: the table has more than ${CELL_LIMIT} cells`);
      for (let down = 0; down < height; down++) {
        const line = (grid[at + down] ??= []);
        for (let right = 0; right < width; right++) line[column + right] = texts[index] ?? "";
      }
      column += width;
    });
  });
  // A span may reach below the last row; what lies there is not shown.
  return shape(grid.slice(0, rowsOf(table).length), options, what);
}

function shape(grid: string[][], options: TableOptions, what: string): { columns: string[]; rows: Cell[][] } {
  const width = grid[0]?.length ?? 0;
  grid.forEach((row, index) => {
    // A row may have holes, where a span from above left none.
    const seen = Object.keys(row).length;
    if (row.length !== width || seen !== width)
      throw new ContentFault(`${what}: row ${index + 1} of the table has ${seen} cells instead of ${width}`);
  });
  const [first, ...others] = grid;
  const columns = options.header ? (first ?? []) : Array.from({ length: width }, (_, index) => String(index));
  const numeric = new Set(options.numeric.map((name) => columnOf(name, columns, `${what}: the table`)));
  const rows = (options.header ? others : grid).map((row) =>
    row.map(
      (cell, column): Cell =>
        numeric.has(column)
          ? parseNumber(cell, `${what}: a cell of column ${columns[column] ?? column}`)
          : cell,
    ),
  );
  return { columns, rows };
}
