/** Days and months in the ways that people write them, month before day. */
import type { Json } from "../../../verifiers/assertions/json-value.js";
import { parseIntLikePython } from "../../python/numbers.js";
import { lower, strip } from "../../python/text.js";

export const monthNames =
  "January February March April May June July August September October November December".split(" ");

const monthWords = new Map<string, number>(
  monthNames.flatMap((name, index): [string, number][] => [
    [name.toLowerCase(), index + 1],
    [name.slice(0, 3).toLowerCase(), index + 1],
  ]),
);
monthWords.set("sept", 9);

/** Words that say nothing about the day. */
const idle = new Set(
  (
    "mon monday tue tues tuesday wed wednesday thu thurs thursday fri friday sat saturday sun sunday " +
    "at on and ad m t of st nd rd th am pm a p z utc gmt"
  ).split(" "),
);

/** Two digits are a year within fifty years of this one, so that grading does not depend on the day it is done. */
const REFERENCE_YEAR = 2025;

const token = /\d+(?::\d{1,2}){1,2}(?:[.,]\d+)?|\d+|[a-z]+/g;

interface Found {
  numbers: { value: number; digits: number }[];
  month: number | undefined;
  /** How many numbers stand before the month's name. */
  before: number;
}

/** Marks that may stand between the parts of a date. */
const foreign = /[^a-z0-9\s.,;:'/+-]/;

function read(text: string): Found | undefined {
  if (foreign.test(lower(text))) return undefined;
  const found: Found = { numbers: [], month: undefined, before: 0 };
  for (const [word] of lower(text).matchAll(token)) {
    if (word.includes(":")) continue;
    if (/^\d/.test(word)) {
      found.numbers.push(...pieces(word));
      continue;
    }
    const month = monthWords.get(word);
    if (month !== undefined) {
      if (found.month !== undefined) return undefined;
      found.month = month;
      found.before = found.numbers.length;
    } else if (!idle.has(word)) return undefined;
  }
  return found;
}

/** Eight digits are year, month and day, and so are six. */
function pieces(digits: string): Found["numbers"] {
  const year = digits.length - 4;
  const parts =
    year === 4 || year === 2
      ? [digits.slice(0, year), digits.slice(year, year + 2), digits.slice(year + 2)]
      : [digits];
  // A year of two digits that stands first is one all the same.
  return parts.map((part, index) => ({
    value: parts.length > 1 && index === 0 && year === 2 ? century(Number(part)) : Number(part),
    digits: parts.length > 1 && index === 0 ? 4 : part.length,
  }));
}

/** `YYYY-MM-DD`; undefined for what names no whole day. */
export function dayOf(value: Json): string | undefined {
  if (typeof value !== "string" || strip(value) === "") return undefined;
  const found = read(value);
  if (found === undefined) return undefined;
  const [first, second, third, ...more] = found.numbers;
  if (first === undefined || second === undefined || more.length > 0) return undefined;
  if (found.month !== undefined) {
    if (third !== undefined) return undefined;
    const yearFirst =
      found.before === 0 ? first.value > 31 : found.before === 1 ? first.value > 31 : second.value <= 31;
    const [year, day] = yearFirst ? [first, second] : [second, first];
    return written(year, found.month, day.value);
  }
  if (third === undefined) return undefined;
  if (first.value > 31 || first.digits > 2) return written(first, second.value, third.value);
  return first.value > 12
    ? written(third, second.value, first.value)
    : written(third, first.value, second.value);
}

function written(
  { value, digits }: Found["numbers"][number],
  month: number,
  day: number,
): string | undefined {
  const year = digits > 2 ? value : century(value);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1 && year <= 9999;
  return real ? date.toISOString().slice(0, 10) : undefined;
}

function century(year: number): number {
  const near = REFERENCE_YEAR - (REFERENCE_YEAR % 100) + year;
  if (near >= REFERENCE_YEAR + 50) return near - 100;
  return near < REFERENCE_YEAR - 50 ? near + 100 : near;
}

/** A month's full name, out of its number, its name or a date that names it. */
export function monthOf(value: Json): string | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? monthNames[value - 1] : undefined;
  if (typeof value !== "string" || strip(value) === "") return undefined;
  const number = parseIntLikePython(strip(value));
  if (number !== undefined) return monthNames[Number(number) - 1];
  const found = read(value);
  if (found?.month !== undefined && found.numbers.length <= 1) return monthNames[found.month - 1];
  const day = dayOf(value);
  return day === undefined ? undefined : monthNames[Number(day.slice(5, 7)) - 1];
}
