/** Numbers, amounts of money and truth values. */
import { type Decimal, parseDecimal } from "../../decimal.js";
import type { Json } from "../../../verifiers/assertions/json-value.js";
import { parseFloatLikePython } from "../../python/numbers.js";
import { lower, strip, words } from "../../python/text.js";

const small =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

const wordValues = new Map<string, number>([
  ...small.map((word, value): [string, number] => [word, value]),
  ...tens.map((word, index): [string, number] => [word, 20 + 10 * index]),
  ["hundred", 100],
]);
const groups: readonly (readonly [word: string, size: number])[] = [
  ["billion", 1e9],
  ["million", 1e6],
  ["thousand", 1e3],
];

/** One group of up to four words: `two hundred twenty three`. Words beyond that, and a missing group, count as published. */
function groupValue(group: readonly string[]): number | undefined {
  const values = group.map((word) => wordValues.get(word));
  const [first, second, third, fourth] = values;
  if (values.includes(undefined) || first === undefined) return undefined;
  if (values.length === 4) return first * (second ?? 0) + (third ?? 0) + (fourth ?? 0);
  if (values.length === 3) return first * (second ?? 0) + (third ?? 0);
  if (values.length !== 2) return first;
  return values.includes(100) ? first * (second ?? 0) : first + (second ?? 0);
}

/** A number in English words, whatever stands between them; undefined if there is none. */
export function numberOfWords(text: string): number | undefined {
  const known = words(lower(text.replaceAll("-", " "))).filter(
    (word) => wordValues.has(word) || word === "point" || groups.some(([name]) => name === word),
  );
  if (known.length === 0) return undefined;
  const point = known.indexOf("point");
  const whole = point === -1 ? known : known.slice(0, point);
  const part = point === -1 ? [] : known.slice(point + 1);
  if ([...groups.map(([name]) => name), "point"].some((name) => count(known, name) > 1)) return undefined;
  const sum = wholeValue(whole);
  return sum === undefined ? undefined : sum + fraction(part);
}

const count = (list: readonly string[], word: string): number => list.filter((one) => one === word).length;

function wholeValue(known: readonly string[]): number | undefined {
  if (known.length === 0) return 0;
  if (known.length === 1)
    return wordValues.get(known[0] ?? "") ?? groups.find(([name]) => name === known[0])?.[1];
  let from = 0;
  let sum = 0;
  for (const [name, size] of groups) {
    const at = known.indexOf(name);
    if (at === -1) continue;
    const value = at < from ? undefined : groupValue(known.slice(from, at));
    if (value === undefined) return undefined;
    sum += value * size;
    from = at + 1;
  }
  if (from === known.length) return sum;
  const rest = groupValue(known.slice(from));
  return rest === undefined ? undefined : sum + rest;
}

/** The digits behind the point; any other word there makes them nothing. */
function fraction(part: readonly string[]): number {
  const digits = part.map((word) => small.indexOf(word));
  return digits.length > 0 && digits.every((digit) => digit >= 0 && digit <= 9)
    ? Number(`0.${digits.join("")}`)
    : 0;
}

/** A number, with commas and spaces anywhere, or in words. */
export function numberOf(value: Json): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "string" || value === "") return undefined;
  return parseFloatLikePython(value.replaceAll(",", "").replaceAll(" ", "")) ?? numberOfWords(value);
}

const amount = /([.]?\d[\d\s.,']*)\s*?(?:[^%\d]|$)/;
const thousands = /^\d{1,3}(?:,\d{3})+$/;

/**
 * The first price in a text. Its decimal mark is whichever of point and comma stands last, so that `1,234` is 1.234 where
 * it was published; groups of three after a comma are thousands if `strict`.
 */
export function priceOf(value: Json, strict: boolean): Decimal | undefined {
  if (typeof value === "number") return parseDecimal(String(value));
  if (typeof value === "boolean") return undefined;
  if (typeof value !== "string" || value === "") return undefined;
  const negative = value.startsWith("-");
  const text = negative ? value.replaceAll("-", "") : value;
  const point = text.lastIndexOf(".") > text.lastIndexOf(",");
  const shown = amount.exec(text)?.[1];
  if (shown === undefined) return text.includes("free") ? { digits: 0n, scale: 0 } : undefined;
  const bare = strip(shown.replace(/[,.]+$/, "").replaceAll("'", ""));
  const trimmed = (bare.split(".").length === 2 ? bare : bare.replace(/^[,.]+/, "")).replaceAll(" ", "");
  const commaIsGroup = point || (strict && thousands.test(trimmed));
  const plain = commaIsGroup ? trimmed.replaceAll(",", "") : trimmed.replaceAll(".", "").replaceAll(",", ".");
  const read = parseDecimal(plain);
  return read === undefined || !negative ? read : { digits: -read.digits, scale: read.scale };
}

const truths = new Set(["true", "yes", "y", "1", "t", "on"]);
const falsehoods = new Set(["false", "no", "n", "0", "f", "off"]);

export function truthOf(value: Json): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  if (typeof value !== "string") return undefined;
  const word = lower(strip(value));
  if (truths.has(word)) return true;
  return falsehoods.has(word) ? false : undefined;
}
