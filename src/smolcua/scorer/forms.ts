/** How each kind of contract reads an answer whose outer white space is gone. */
import { type Contract, type ContractOf, type KeyOf, placeNames } from "../contracts/schema.js";
import type { Reason } from "./reasons.js";
import { equalExact, exactOf, readJson } from "./strict-json.js";

type Form<Kind extends Contract["kind"]> = (
  answer: string,
  contract: ContractOf<Kind>,
  key: KeyOf<Kind>,
) => Reason;

const valued = (right: boolean): Reason => (right ? "correct" : "wrong_value");
const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at]);

export const forms: { [Kind in Contract["kind"]]: Form<Kind> } = {
  letter: (answer, { letters }, key) =>
    answer.length === 1 && letters.includes(answer) ? valued(answer === key) : "not_a_letter",

  choice: (answer, { options }, key) => (options.includes(answer) ? valued(answer === key) : "not_an_option"),

  literal: (answer, _contract, key) => valued(answer === key),

  quoted: (answer, { open, close }, key) => {
    if (answer.length < open.length + close.length || !answer.startsWith(open) || !answer.endsWith(close))
      return "not_quoted";
    const inner = answer.slice(open.length, answer.length - close.length);
    return inner.includes(open) || inner.includes(close) ? "not_quoted" : valued(inner === key);
  },

  json: (answer, { type, keys, length }, key) => {
    const read = readJson(answer);
    if ("fault" in read) return read.fault;
    const { value } = read;
    const isType = type === "array" ? Array.isArray(value) : value instanceof Map;
    if (!isType) return "wrong_type";
    if (value instanceof Map && keys !== undefined) {
      if (value.size !== keys.length || !keys.every((name) => value.has(name))) return "wrong_keys";
    }
    if (Array.isArray(value) && length !== undefined && value.length !== length) return "wrong_length";
    return valued(equalExact(value, exactOf(key)));
  },

  tsv: (answer, { rows, columns }, key) => {
    const lines = linesOf(answer, rows);
    if (typeof lines === "string") return lines;
    const cells = lines.map((line) => line.split("\t"));
    if (cells.some((row) => row.length !== columns)) return "column_count";
    return valued(cells.every((row, at) => sameList(row, key[at] ?? [])));
  },

  pairs: (answer, { names, separator }, key) => {
    const lines = linesOf(answer, names.length);
    if (typeof lines === "string") return lines;
    const found = lines.map((line) => {
      const at = line.indexOf(separator);
      return at < 0 ? null : { name: line.slice(0, at), value: line.slice(at + separator.length) };
    });
    if (found.includes(null)) return "no_separator";
    if (found.some((pair, at) => pair?.name !== names[at])) return "wrong_keys";
    return valued(found.every((pair) => pair !== null && pair.value === key[pair.name]));
  },

  lines: (answer, { count }, key) => {
    const lines = linesOf(answer, count);
    return typeof lines === "string" ? lines : valued(sameList(lines, key));
  },

  list: (answer, { mark, count }, key) => {
    const lines = linesOf(answer, count);
    if (typeof lines === "string") return lines;
    const marks = lines.map((_, at) => markOf(mark, at + 1));
    if (lines.some((line, at) => !line.startsWith(marks[at] ?? ""))) return "bad_mark";
    return valued(
      sameList(
        lines.map((line, at) => line.slice((marks[at] ?? "").length)),
        key,
      ),
    );
  },

  coordinates: (answer, { template, tolerance = 0 }, key) => {
    const match = patternOf(template).exec(answer);
    if (match === null) return "bad_pattern";
    const near = (name: string, at: number): boolean => {
      const off = BigInt(match[at + 1] ?? "0") - BigInt(key[name] ?? 0);
      return (off < 0n ? -off : off) <= BigInt(tolerance);
    };
    return valued(placeNames(template).every(near));
  },
};

/** The mark of line `n` of a list. */
export function markOf(mark: string, n: number): string {
  return mark.replaceAll("{n}", String(n));
}

/** So many lines, or why they are not: only a line feed ends one. */
function linesOf(answer: string, count: number): string[] | Reason {
  if (answer.includes("\r")) return "carriage_return";
  const lines = answer.split("\n");
  return lines.length === count ? lines : "line_count";
}

/** Whole numbers of at most 16 digits, as JSON writes them, but for `-0`. */
const number = "(0|-?[1-9][0-9]{0,15})";

function patternOf(template: string): RegExp {
  const literal = template
    .split(/\{[a-z][a-z0-9_]*\}/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  return new RegExp(`^${literal.join(number)}$`);
}
