/** Comma-separated values after RFC 4180: quotes doubled inside quotes, lines ended by LF or CRLF. */
import { type Cell, ContentFault } from "../value.js";
import { columnOf } from "./columns.js";
import { parseNumber } from "./text.js";

export interface CsvOptions {
  delimiter: string;
  header: boolean;
  /** Columns, by name or number, whose cells are numbers. */
  numeric: readonly (string | number)[];
}

/** Cells of one table; more is not a table that a person would check. */
const CELL_LIMIT = 1_000_000;

/** Parses a whole text. All rows must be as wide as the first. Throws `ContentFault`. */
export function parseCsv(
  text: string,
  options: CsvOptions,
  what: string,
): { columns: string[]; rows: Cell[][] } {
  const records = readRecords(text, options.delimiter, what);
  const width = records[0]?.length ?? 0;
  const columns = options.header
    ? (records.shift() ?? [])
    : Array.from({ length: width }, (_, index) => String(index));
  records.forEach((record, index) => {
    if (record.length === width) return;
    const line = index + (options.header ? 2 : 1);
    throw new ContentFault(`${what}: record ${line} has ${record.length} fields instead of ${width}`);
  });
  const numeric = new Map<number, string>();
  for (const name of options.numeric) {
    numeric.set(columnOf(name, columns, what), `${what}: a cell of column ${JSON.stringify(name)}`);
  }
  const rows = records.map((record) =>
    record.map((field, column): Cell => {
      const where = numeric.get(column);
      return where === undefined ? field : parseNumber(field, where);
    }),
  );
  return { columns, rows };
}

function readRecords(text: string, delimiter: string, what: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let cells = 0;
  let at = 0;
  const endField = (value: string): void => {
    if (++cells > CELL_LIMIT) throw new ContentFault(`${what} has more than ${CELL_LIMIT} cells`);
    record.push(value);
  };
  while (at < text.length) {
    if (text[at] === '"') {
      const { value, next } = readQuoted(text, at, what);
      endField(value);
      at = next;
    } else {
      const end = fieldEnd(text, at, delimiter);
      endField(text.slice(at, end));
      at = end;
    }
    if (text[at] === delimiter) {
      at++;
      if (at === text.length) endField("");
      continue;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at++;
    if (at < text.length && text[at] !== "\n") throw new ContentFault(`${what}: text after a closing quote`);
    at++;
    records.push(record);
    record = [];
  }
  if (record.length > 0) records.push(record);
  return records;
}

function fieldEnd(text: string, from: number, delimiter: string): number {
  let end = from;
  while (end < text.length && text[end] !== delimiter && text[end] !== "\n") {
    if (text[end] === "\r" && text[end + 1] === "\n") break;
    end++;
  }
  return end;
}

function readQuoted(text: string, from: number, what: string): { value: string; next: number } {
  let value = "";
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) throw new ContentFault(`${what}: a quote is never closed`);
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { value, next: quote + 1 };
    value += '"';
    at = quote + 2;
  }
}
