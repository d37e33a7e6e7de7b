/** VisualWebArena's `required_values`: a whole number against inequalities such as `< 700`. */
import { z } from "zod";
import { compareDecimals, type Decimal, decimalToNumber, parseDecimal } from "../../decimal.js";
import { parseFloatLikePython, parseIntLikePython, reprText } from "../../python/numbers.js";
import { replaceAll, strip } from "../../python/text.js";
import { defineScorer, fault, given, type Outcome } from "../../scorer.js";
import { alternatives } from "../../webarena/scorers/text.js";

/** The published tolerance; it is added to strict comparisons too. */
const TOLERANCE = 1e-8;

type Comparison = (x: bigint, y: number) => boolean;

// A bigint compares with a number by value, as Python's int with its float.
const comparisons: readonly (readonly [operator: string, holds: Comparison])[] = [
  ["<=", (x, y) => x <= y + TOLERANCE],
  [">=", (x, y) => x >= y - TOLERANCE],
  ["==", (x, y) => Math.abs(Number(x) - y) <= TOLERANCE],
  ["<", (x, y) => x < y + TOLERANCE],
  [">", (x, y) => x > y - TOLERANCE],
];

/** `None` where the published reader gives up: it reads whole numbers only. */
export const wholeNumber = (text: string): bigint | undefined =>
  parseIntLikePython(replaceAll(strip(text), ",", ""));

/** Whether a number satisfies an inequality, or what reading it raises. */
export function satisfies(value: bigint, inequality: string): Outcome<boolean> {
  const found = comparisons.find(([operator]) => inequality.includes(operator));
  if (found === undefined) return fault("ValueError", `Invalid inequality string: ${inequality}`);
  const [operator, holds] = found;
  const parts = inequality.split(operator);
  if (parts.length > 2) return fault("ValueError", "too many values to unpack (expected 2)");
  const bound = strip(parts[1] ?? "");
  const limit = parseFloatLikePython(bound);
  if (limit === undefined) {
    return fault("ValueError", `could not convert string to float: ${reprText(bound)}`);
  }
  if (operator === "==" && !Number.isFinite(Number(value))) {
    return fault("OverflowError", "int too large to convert to float");
  }
  return given(holds(value, limit));
}

const grouped = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const plain = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** As many digits as a number may have here; more are no amount of anything. */
const MAX_DIGITS = 400;

/** Whole and decimal numbers, with a comma only between groups of three. */
export function decimalNumber(text: string): Decimal | undefined {
  const bare = strip(text);
  const readable = bare.length <= MAX_DIGITS && (plain.test(bare) || grouped.test(bare));
  return readable ? parseDecimal(bare.replaceAll(",", "")) : undefined;
}

const strictForm = /^(<=|>=|==|<|>)([^<>=]*)$/;

/** Exact, on decimals: `< 700` does not hold for 700. */
export function satisfiesStrictly(value: Decimal, inequality: string): Outcome<boolean> {
  const [, operator, bound = ""] = strictForm.exec(strip(inequality)) ?? [];
  const limit = operator === undefined ? undefined : decimalNumber(bound);
  if (limit === undefined) return fault("ValueError", `Invalid inequality string: ${inequality}`);
  const order = compareDecimals(value, limit);
  const holds =
    (operator?.includes("=") === true && order === 0) ||
    (operator?.startsWith("<") === true && order < 0) ||
    (operator?.startsWith(">") === true && order > 0);
  return given(holds);
}

const input = z.strictObject({ value: z.string(), inequality: z.string() });

export interface RequiredValue {
  /** The number that was read; null if none was. Beyond 2^53 to the nearest. */
  parsed: number | null;
  /** Null where there is no number to compare. */
  ok: boolean | null;
}

/** The outcome of alternatives: the first fault counts, as they are all evaluated. */
function any(inequality: string, one: (part: string) => Outcome<boolean>): Outcome<boolean> {
  let holds = false;
  for (const part of alternatives(inequality)) {
    const outcome = one(part);
    if (outcome.fault !== undefined) return outcome;
    holds ||= outcome.value;
  }
  return given(holds);
}

export const anySatisfied = (value: bigint, inequality: string): Outcome<boolean> =>
  any(inequality, (part) => satisfies(value, part));

export const anySatisfiedStrictly = (value: Decimal, inequality: string): Outcome<boolean> =>
  any(inequality, (part) => satisfiesStrictly(value, part));

export const vwaRequiredValue = defineScorer<z.output<typeof input>, RequiredValue>({
  name: "vwa.required_value",
  version: 1,
  input,
  score: {
    faithful: ({ value, inequality }) => {
      const number = wholeNumber(value);
      if (number === undefined) return given({ parsed: null, ok: null });
      const outcome = satisfies(number, inequality);
      return outcome.fault === undefined ? given({ parsed: Number(number), ok: outcome.value }) : outcome;
    },
    strict: ({ value, inequality }) => {
      const number = decimalNumber(value);
      if (number === undefined) return given({ parsed: null, ok: null });
      const outcome = anySatisfiedStrictly(number, inequality);
      const parsed = decimalToNumber(number);
      return outcome.fault === undefined ? given({ parsed, ok: outcome.value }) : outcome;
    },
  },
  reward: ({ ok }) => Number(ok === true),
});
