/** Cells of a sheet, read row by row. */
import { childOf, type XmlNode } from "../../../parse/xml.js";
import { parseNumber } from "../../../parse/text.js";
import { ContentFault } from "../../../value.js";
import { CELL_LIMIT, type CellValue, type GridCell } from "../grid.js";
import { type Area, isWithin, movedFormula, type Place, placeName, placeOf } from "./reference.js";
import { richText, type Sheet, type Workbook } from "./workbook.js";

export interface SheetCell extends GridCell {
  /** Index of its style. */
  style: number;
}

interface Master extends Place {
  text: string;
}

export interface SheetContent {
  cells: SheetCell[];
  /** The sheet's tree without its rows. */
  root: XmlNode;
  /** Attributes of the rows that say more than their number. */
  rows: Map<number, ReadonlyMap<string, string>>;
}

/** Reads a sheet; of its cells those in `area`, or all that hold something. Throws `ContentFault`. */
export function readSheet(workbook: Workbook, sheet: Sheet, area?: Area): SheetContent {
  const what = `${workbook.file.what}: sheet ${sheet.name}`;
  if (sheet.kind !== "worksheet") throw new ContentFault(`${what} is a ${sheet.kind}, which has no cells`);
  const cells: SheetCell[] = [];
  const rows = new Map<number, ReadonlyMap<string, string>>();
  const masters = new Map<string, Master>();
  let lastRow = 0;
  const row = (node: XmlNode): void => {
    const number = Number(node.attributes.get("r") ?? lastRow + 1);
    if (!Number.isSafeInteger(number) || number <= lastRow)
      throw new ContentFault(`${what} has rows out of order`);
    lastRow = number;
    if (["hidden", "ht", "s", "outlineLevel"].some((name) => node.attributes.has(name)))
      rows.set(number, node.attributes);
    let lastColumn = 0;
    for (const child of node.children) {
      if (child.name !== "c") continue;
      const name = child.attributes.get("r") ?? placeName({ row: number, column: lastColumn + 1 });
      const place = placeOf(name, what);
      if (place.row !== number || place.column <= lastColumn)
        throw new ContentFault(`${what} has cells out of order at ${name}`);
      lastColumn = place.column;
      const formula = formulaOf(childOf(child, "f"), place, masters);
      if (area !== undefined && !isWithin(place, area)) continue;
      const value = valueOf(child, formula !== undefined, workbook, `${what}!${name}`);
      if (area === undefined && value.type === "empty") continue;
      if (cells.length >= CELL_LIMIT) throw new ContentFault(`${what} has more than ${CELL_LIMIT} cells`);
      cells.push({ ...place, style: Number(child.attributes.get("s") ?? 0), value, formula });
    }
  };
  const root = workbook.file.xml(sheet.part, { each: { row } });
  return { cells, root, rows };
}

/** A cell of a shared formula has the first one's, moved to its own place. */
function formulaOf(
  node: XmlNode | undefined,
  place: Place,
  masters: Map<string, Master>,
): string | undefined {
  if (node === undefined) return undefined;
  const id = node.attributes.get("t") === "shared" ? node.attributes.get("si") : undefined;
  if (id === undefined) return node.text;
  const master = masters.get(id);
  if (node.text !== "" || master === undefined) {
    masters.set(id, { ...place, text: node.text });
    return node.text;
  }
  return movedFormula(master.text, place.row - master.row, place.column - master.column);
}

function valueOf(cell: XmlNode, hasFormula: boolean, workbook: Workbook, what: string): CellValue {
  const type = cell.attributes.get("t") ?? "n";
  if (type === "inlineStr") return { type: "text", value: richText(childOf(cell, "is")) };
  const written = childOf(cell, "v")?.text;
  if (written === undefined || (written === "" && type !== "str"))
    return hasFormula ? { type: "uncalculated", value: null } : { type: "empty", value: null };
  switch (type) {
    case "s":
      return { type: "text", value: workbook.text(Number(written)) };
    case "str":
      return { type: "text", value: written };
    case "b":
      return { type: "boolean", value: written.trim() === "1" || written.trim() === "true" };
    case "e":
      return { type: "error", value: written };
    case "d":
      return { type: "date", value: written };
    case "n":
      return { type: "number", value: parseNumber(written, what) };
    default:
      throw new ContentFault(`${what} is of the unknown type ${type}`);
  }
}
