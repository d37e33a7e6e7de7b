/** SheetBench: the cells of the sheet ANSWER against expected values, as they are copied out of the sheet. */
import { z } from "zod";
import { record } from "../../../errors/record.js";
import { parseIntLikePython, floatText } from "../../python/numbers.js";
import { strip } from "../../python/text.js";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const input = z.strictObject({
  /** Cells by their names, `A1` and so on. */
  expected: record(z.string(), cell),
  /** What was copied: rows by line, cells by tab. */
  copied: z.string(),
  /** The sheet that it was copied from; ANSWER is the one that counts. */
  sheet: z.string().default("ANSWER"),
  partial: z.boolean().default(true),
});
type Input = z.output<typeof input>;

/** `str(value)` of what JSON holds. */
function text(value: z.output<typeof cell>): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" && !Number.isInteger(value)) return floatText(value);
  return String(value);
}

function share(found: readonly boolean[], partial: boolean): number {
  const right = found.filter(Boolean).length;
  if (partial) return right / found.length;
  return Number(right === found.length);
}

const firstLetter = /^\p{L}/u;
const digitsOnly = /^[\p{Nd}]+$/u;

/** One letter and digits; a row or column that is not there holds nothing. A name such as AA1 is never right. */
function lookUp(name: string, rows: readonly string[]): string | undefined {
  const [letter = ""] = name;
  const rest = name.slice(letter.length);
  if (!firstLetter.test(letter) || !digitsOnly.test(rest)) return undefined;
  const column = (letter.toUpperCase().codePointAt(0) ?? 0) - 65;
  const row = Number((parseIntLikePython(rest) ?? 0n) - 1n);
  // A negative place counts from the end, as in Python.
  const line = rows.at(row);
  return line?.split("\t").at(column) ?? "";
}

/** Whatever sheet it was; no cells to look at are all right; a line break inside a cell moves the rows below it. */
function faithful({ expected, copied, partial }: Input): Outcome<number> {
  const names = Object.keys(expected);
  if (names.length === 0) return given(1);
  const rows = copied.replace(/\n+$/, "").split("\n");
  return given(
    share(
      names.map((name) => {
        const actual = lookUp(name, rows);
        return actual !== undefined && strip(actual) === strip(text(expected[name] ?? null));
      }),
      partial,
    ),
  );
}

const reference = /^([A-Z]{1,3})([1-9]\d{0,6})$/;

/** Column AA is the 27th. */
const columnOf = (letters: string): number =>
  Array.from(letters).reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0) - 1;

/** Rows and cells of copied text; a cell in quotes may hold tabs, line breaks and doubled quotes. */
function table(copied: string): string[][] {
  const rows: string[][] = [[]];
  const cells = /(?:"((?:[^"]|"")*)"(?=[\t\n]|\r\n|$)|([^\t\n]*))(\t|\r?\n|$)/g;
  for (const [, quoted, plain = "", end] of copied.matchAll(cells)) {
    rows.at(-1)?.push(quoted === undefined ? plain.replace(/\r$/, "") : quoted.replaceAll('""', '"'));
    if (end === "") break;
    if (end !== "\t") rows.push([]);
  }
  return rows;
}

/** Only the sheet ANSWER, all columns, and at least one cell to look at. */
function strict({ expected, copied, sheet, partial }: Input): Outcome<number> {
  const names = Object.keys(expected);
  if (names.length === 0) return fault("NoCells", "there are no cells to look at");
  const misnamed = names.find((name) => !reference.test(name.toUpperCase()));
  if (misnamed !== undefined) return fault("BadCell", `${misnamed} names no cell`);
  if (sheet !== "ANSWER") return given(0);
  const rows = table(copied);
  return given(
    share(
      names.map((name) => {
        const [, letters = "", row = "1"] = reference.exec(name.toUpperCase()) ?? [];
        const actual = rows[Number(row) - 1]?.[columnOf(letters)] ?? "";
        return strip(actual) === strip(text(expected[name] ?? null));
      }),
      partial,
    ),
  );
}

export const sheetCells = defineScorer<Input, number>({
  name: "sheetbench.cells",
  version: 1,
  input: input,
  score: { faithful, strict },
  reward: unit,
});
