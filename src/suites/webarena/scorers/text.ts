/** What WebArena's scorers do to an answer before they look at it. */
import { isJsonObject } from "../../../verifiers/assertions/json-value.js";
import { lower, strip } from "../../python/text.js";

/** Without white space around it and without one pair of quotes, in lower case. A single quote mark loses itself. */
export function clean(text: string): string {
  return lower(unquoted(strip(text)));
}

/** The same, but a quote mark alone stays. */
export function cleanStrictly(text: string): string {
  const bare = strip(text);
  return lower(bare.length < 2 ? bare : unquoted(bare));
}

/** Without one pair of like quotes. `text[1:-1]` of one mark is nothing, as in Python. */
export function unquoted(text: string): string {
  const quoted = ["'", '"'].some((mark) => text.startsWith(mark) && text.endsWith(mark));
  return quoted ? text.slice(1, -1) : text;
}

/** The kinds of reference answers in the order in which a task names them. */
export function approachesOf(given: unknown): string[] {
  const references = isJsonObject(given) ? given.reference_answers : undefined;
  return isJsonObject(references) ? Object.keys(references) : [];
}

/** Alternatives in one expected value. */
export const OR = " |OR| ";

export const alternatives = (text: string): string[] => text.split(OR);

const inside = /[\p{L}\p{N}_]/u;

/** Whether a part stands in a text with no letter or digit grown to either end of it. Nothing stands nowhere. */
export function standsIn(part: string, text: string): boolean {
  if (part === "") return false;
  const opens = inside.test(part.at(0) ?? "");
  const closes = inside.test(part.at(-1) ?? "");
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    const before = text.charAt(at - 1) || " ";
    const after = text.charAt(at + part.length) || " ";
    const grown =
      (opens && inside.test(before)) || (closes && (inside.test(after) || decimal(text, at, part)));
    if (!grown && !(opens && decimalBefore(text, at))) return true;
  }
  return false;
}

/** `12` in `12.5`: the number goes on. */
const decimal = (text: string, at: number, part: string): boolean =>
  /\d$/.test(part) && /^[.,]\d/.test(text.slice(at + part.length, at + part.length + 2));

/** `5` in `12.5`: the number began before. */
const decimalBefore = (text: string, at: number): boolean =>
  /\d/.test(text.charAt(at)) && /\d[.,]$/.test(text.slice(Math.max(0, at - 2), at));
