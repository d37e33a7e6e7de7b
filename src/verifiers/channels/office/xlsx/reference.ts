/** Names of cells and ranges: `B2` is row 2 of column 2. */
import { ContentFault } from "../../../value.js";

const LAST_ROW = 1_048_576;
const LAST_COLUMN = 16_384;

export interface Place {
  /** Counted from 1. */
  row: number;
  /** Counted from 1. */
  column: number;
}

export interface Area {
  from: Place;
  to: Place;
}

/** Letters of a column: 1 is A, 27 is AA. */
export function columnName(column: number): string {
  let name = "";
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26))
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
}

export function columnNumber(name: string): number {
  return Array.from(name).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

export function placeName({ row, column }: Place): string {
  return `${columnName(column)}${row}`;
}

/** Reads `B2`. Throws `ContentFault` for what no sheet has. */
export function placeOf(name: string, what: string): Place {
  const match = /^([A-Z]{1,3})([1-9]\d{0,6})$/.exec(name);
  const place = { row: Number(match?.[2] ?? 0), column: columnNumber(match?.[1] ?? "") };
  if (match === null || place.row > LAST_ROW || place.column > LAST_COLUMN)
    throw new ContentFault(`${what} has no cell ${JSON.stringify(name.slice(0, 40))}`);
  return place;
}

/** Reads `A1:C9`, in whichever corner it starts. Throws `ContentFault`. */
export function areaOf(name: string, what: string): Area {
  const [first = "", second = first] = name.split(":");
  const a = placeOf(first, what);
  const b = placeOf(second, what);
  return {
    from: { row: Math.min(a.row, b.row), column: Math.min(a.column, b.column) },
    to: { row: Math.max(a.row, b.row), column: Math.max(a.column, b.column) },
  };
}

export function isWithin({ row, column }: Place, { from, to }: Area): boolean {
  return row >= from.row && row <= to.row && column >= from.column && column <= to.column;
}

const WORDS =
  /"(?:[^"]|"")*"|'(?:[^']|'')*'|(?<![\w.$])(\$?)([A-Z]{1,3})(\$?)([1-9]\d{0,6})(?![\w(.])|[\w.$]+/g;

/**
 * A formula as it reads some rows and columns away: relative references move, absolute ones, text and names do not. Whole rows and
 * columns (`A:A`) are left as they are.
 */
export function movedFormula(formula: string, rows: number, columns: number): string {
  return formula.replaceAll(
    WORDS,
    (
      word,
      fixedColumn: string | undefined,
      letters: string | undefined,
      fixedRow: string,
      digits: string,
    ) => {
      if (letters === undefined) return word;
      const column = fixedColumn === "$" ? letters : columnName(columnNumber(letters) + columns);
      const row = fixedRow === "$" ? digits : String(Number(digits) + rows);
      return `${fixedColumn ?? ""}${column}${fixedRow}${row}`;
    },
  );
}
