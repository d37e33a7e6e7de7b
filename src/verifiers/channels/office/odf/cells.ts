/** Sheets of an OpenDocument workbook, read row by row. What is repeated is counted, and made only where it holds something. */
import { parseNumber } from "../../../parse/text.js";
import { findAll, TEXT_NODE, type XmlNode } from "../../../parse/xml.js";
import { ContentFault } from "../../../value.js";
import { CELL_LIMIT, type CellValue, type GridCell } from "../grid.js";
import { type Area, isWithin, type Place, placeName } from "../xlsx/reference.js";
import type { OpenDocument } from "./file.js";
import { Texts } from "./text.js";

/** Rows and columns that a sheet may have; a count beyond is a lie. */
const PLACE_LIMIT = 16_777_216;
/** Elements around a sheet: the document, its body, the spreadsheet. */
const SHEET_DEPTH = 3;

export interface OdsCell extends GridCell {
  /** `float`, `percentage`, `currency EUR`, ...; null for what says nothing. */
  format: string | null;
}

export interface OdsSheet {
  name: string;
  /** Without its rows. */
  node: XmlNode;
  cells: OdsCell[];
  /** Cells that hold more than their text: comments, links, pictures. */
  extras: (Place & { node: XmlNode })[];
  /** Places where several cells are one, from corner to corner. */
  merged: string[];
  hiddenRows: number[];
}

export interface Wanted {
  /** A sheet by its name or its place counted from 1; all if unsaid. */
  sheet?: string | number;
  area?: Area | undefined;
}

/** Reads the sheets that are wanted; the others are empty. Throws `ContentFault`. */
export function readSheets(file: OpenDocument, wanted: Wanted): { root: XmlNode; sheets: OdsSheet[] } {
  const sheets: OdsSheet[] = [];
  let reader = new RowReader(file, wanted.area);
  const root = file.xml("content.xml", {
    each: {
      "table-row": (node) => reader.row(node),
      table: (node, depth) => {
        if (depth !== SHEET_DEPTH) throw new ContentFault(`${file.what} has a table that is no sheet`);
        const name = node.attributes.get("name") ?? "";
        const { cells, extras, merged, hiddenRows, fault } = reader;
        reader = new RowReader(file, wanted.area);
        // What formulas refer to in other files is kept in tables of names like 'file:///a.ods'#$Sheet1.
        if (name.includes("'#$")) return;
        const asked =
          wanted.sheet === undefined || wanted.sheet === name || wanted.sheet === sheets.length + 1;
        if (asked && fault !== undefined) throw new ContentFault(`${file.what}: sheet ${name} ${fault}`);
        sheets.push({ name, node, cells: asked ? cells : [], extras, merged, hiddenRows });
      },
    },
  });
  return { root, sheets };
}

/** Takes the rows of one sheet. A fault is kept until it is known whether the sheet is wanted. */
class RowReader {
  readonly cells: OdsCell[] = [];
  readonly extras: OdsSheet["extras"] = [];
  readonly merged: string[] = [];
  readonly hiddenRows: number[] = [];
  fault: string | undefined;
  private next = 1;
  private readonly what: string;
  private readonly area: Area | undefined;
  private readonly texts: Texts;

  constructor(file: OpenDocument, area: Area | undefined) {
    this.what = file.what;
    this.area = area;
    this.texts = new Texts(file.what);
  }

  row(node: XmlNode): void {
    const first = this.next;
    const rows = this.count(node, "number-rows-repeated");
    this.next += rows;
    if (this.next > PLACE_LIMIT) this.fault ??= "has more rows than a sheet";
    if (this.fault !== undefined) return;
    if (["collapse", "filter"].includes(node.attributes.get("visibility") ?? ""))
      for (let row = first; row < first + rows && this.hiddenRows.length < CELL_LIMIT; row++)
        this.hiddenRows.push(row);
    let column = 1;
    for (const child of node.children) {
      if (child.name !== "table-cell" && child.name !== "covered-table-cell") continue;
      const columns = this.count(child, "number-columns-repeated");
      this.cell(child, { row: first, column }, rows, columns);
      column += columns;
      if (column > PLACE_LIMIT) this.fault ??= "has more columns than a sheet";
      if (this.fault !== undefined) return;
    }
  }

  private count(node: XmlNode, attribute: string): number {
    const text = node.attributes.get(attribute) ?? "1";
    if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
    this.fault ??= `has ${JSON.stringify(text.slice(0, 20))} rows or columns alike`;
    return 1;
  }

  private cell(node: XmlNode, place: { row: number; column: number }, rows: number, columns: number): void {
    this.merge(node, place);
    if (node.children.some(({ name }) => name !== "p" && name !== TEXT_NODE) || findAll(node, "a").length > 0)
      this.extras.push({ ...place, node });
    const formula = node.attributes.get("formula")?.replace(/^[a-z]{1,20}:=|^=/, "");
    const from = this.area?.from ?? place;
    const to = this.area?.to ?? { row: place.row + rows - 1, column: place.column + columns - 1 };
    const touched =
      from.row < place.row + rows &&
      to.row >= place.row &&
      from.column < place.column + columns &&
      to.column >= place.column;
    if (!touched) return;
    const name = `${this.what}: ${placeName(place)}`;
    const value = this.valueOf(node, formula !== undefined, name);
    if (value.type === "empty" && (this.area === undefined || formula === undefined)) return;
    for (let row = Math.max(place.row, from.row); row <= Math.min(place.row + rows - 1, to.row); row++)
      for (
        let column = Math.max(place.column, from.column);
        column <= Math.min(place.column + columns - 1, to.column);
        column++
      ) {
        if (this.cells.length >= CELL_LIMIT) {
          this.fault ??= `has more than ${CELL_LIMIT} cells`;
          return;
        }
        if (this.area !== undefined && !isWithin({ row, column }, this.area)) continue;
        this.cells.push({ row, column, value, formula, format: formatOf(node) });
      }
  }

  private merge(node: XmlNode, { row, column }: { row: number; column: number }): void {
    const spans = ["number-rows-spanned", "number-columns-spanned"].map((name) => this.count(node, name));
    const [rows = 1, columns = 1] = spans;
    if ((rows === 1 && columns === 1) || this.merged.length >= CELL_LIMIT) return;
    const to = { row: row + rows - 1, column: column + columns - 1 };
    this.merged.push(`${placeName({ row, column })}:${placeName(to)}`);
  }

  private valueOf(node: XmlNode, hasFormula: boolean, what: string): CellValue {
    const get = (name: string): string | undefined => node.attributes.get(`office:${name}`);
    const text = (): string =>
      node.children
        .filter(({ name }) => name === "p")
        .map((paragraph) => this.texts.of(paragraph))
        .join("\n");
    if (node.attributes.get("calcext:value-type") === "error") return { type: "error", value: text() };
    const type = get("value-type");
    switch (type) {
      case "float":
      case "percentage":
      case "currency":
        return { type: "number", value: parseNumber(get("value") ?? "", what) };
      case "boolean":
        return { type: "boolean", value: get("boolean-value") === "true" };
      case "date":
      case "time":
        return { type: "date", value: get(`${type}-value`) ?? "" };
      case "string":
        return { type: "text", value: get("string-value") ?? text() };
      case undefined:
      case "void": {
        const shown = text();
        if (shown !== "") return { type: "text", value: shown };
        return hasFormula ? { type: "uncalculated", value: null } : { type: "empty", value: null };
      }
      default:
        throw new ContentFault(`${what} is of the unknown type ${type.slice(0, 40)}`);
    }
  }
}

function formatOf(node: XmlNode): string | null {
  const type = node.attributes.get("office:value-type");
  const currency = node.attributes.get("office:currency");
  if (type === undefined) return null;
  return type === "currency" && currency !== undefined ? `currency ${currency}` : type;
}
