/** How many columns a SELECT returns, as far as its words tell. */
import type { Token } from "./tokens.js";

/** What ends the list of results. */
const ENDS = ["from", "where", "group", "having", "window", "order", "limit", "union", "intersect", "except"];

/**
 * Columns of the statement that begins at `start` with SELECT or VALUES; undefined where a `*` leaves it to the database.
 * @param depth how many parentheses are open after each token
 */
export function columnsFrom(
  tokens: readonly Token[],
  depth: readonly number[],
  start: number,
): number | undefined {
  const outside = depth[start] ?? 0;
  const isValues = tokens[start]?.text === "values";
  // Of VALUES the first row tells, which stands in parentheses.
  const level = isValues ? outside + 1 : outside;
  let columns = 1;
  for (let index = start + 1; index < tokens.length; index++) {
    const { kind, text } = tokens[index] as Token;
    if (isValues && kind === "mark" && text === ")" && depth[index] === outside) break;
    if (depth[index] !== level) continue;
    if (kind === "word" && ENDS.includes(text) && !comparesAt(tokens, index, start)) break;
    if (kind !== "mark") continue;
    if (text === "*" && isWild(tokens, index, start)) return undefined;
    if (text === ",") columns++;
  }
  return columns;
}

/** The FROM of `a IS DISTINCT FROM b`. */
function comparesAt(tokens: readonly Token[], index: number, start: number): boolean {
  return tokens[index]?.text === "from" && tokens[index - 1]?.text === "distinct" && index - 2 > start;
}

/** A `*` that stands for columns follows a comma, a full stop or the beginning; one that multiplies follows a value. */
function isWild(tokens: readonly Token[], index: number, start: number): boolean {
  const before = tokens[index - 1];
  if (before?.kind === "mark") return before.text === "," || before.text === ".";
  return index - 1 === start || (index - 2 === start && ["distinct", "all"].includes(before?.text ?? ""));
}
