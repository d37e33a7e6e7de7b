/** GAIA: one answer against one expected answer, as a number, a list or a string, by the shape of what is expected. */
import { z } from "zod";
import { parseFloatLikePython } from "../../python/numbers.js";
import { lower, replaceAll, withoutPunctuation, withoutSpace } from "../../python/text.js";
import { defineScorer, given, type Outcome } from "../../scorer.js";

const input = z.strictObject({
  /** What the agent answered; null if it did not. */
  answer: z.string().nullable(),
  gold: z.string(),
});
type Input = z.output<typeof input>;

interface Reading {
  /** Whether a number is what is expected, and which. */
  expected: (gold: string) => number | undefined;
  /** The number in an answer; what is none never equals anything but itself. */
  answered: (answer: string) => number;
  /** What counts of a text that is neither number nor list. */
  plain: (text: string) => string;
  /** The answer of somebody who did not answer. */
  missing: string | undefined;
}

const bare = (value: string): string => lower(withoutSpace(value));

const withoutMarks = (text: string): string =>
  ["$", "%", ","].reduce((rest, mark) => replaceAll(rest, mark, ""), text);

/** What is no number reads as infinity here, so that any text answers an expected `inf`; no answer reads as "None". */
const faithful: Reading = {
  expected: parseFloatLikePython,
  answered: (answer) => parseFloatLikePython(withoutMarks(answer)) ?? Number.POSITIVE_INFINITY,
  plain: (text) => withoutPunctuation(bare(text)),
  missing: "None",
};

/** Marks that carry the value of a number: a point or comma between digits, a sign before one. */
const ofNumbers = /(?<=\d)[.,](?=\d)|(?<![\p{L}\p{N}])-(?=\d)/gu;

/**
 * Only a finite number is one; `inf` and `nan` are words. Marks inside numbers stay, and so does an expected answer of
 * marks alone. No answer is wrong, whatever was expected.
 */
const strict: Reading = {
  expected: (gold) => finite(parseFloatLikePython(gold)),
  answered: (answer) => finite(parseFloatLikePython(withoutMarks(answer))) ?? Number.NaN,
  plain: (text) => {
    const kept = [...text.matchAll(ofNumbers)].map((mark) => mark.index);
    const rest = keepingAt(text, new Set(kept));
    return bare(withoutSpace(rest) === "" ? text : rest);
  },
  missing: undefined,
};

/** Without punctuation, but for the marks at these places. */
const keepingAt = (text: string, kept: ReadonlySet<number>): string =>
  Array.from({ length: text.length }, (_, index) => text.charAt(index))
    .map((unit, index) => (kept.has(index) ? unit : withoutPunctuation(unit)))
    .join("");

const finite = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isFinite(value) ? value : undefined;

function correct({ answer, gold }: Input, reading: Reading): boolean {
  const said = answer ?? reading.missing;
  if (said === undefined) return false;
  const number = reading.expected(gold);
  if (number !== undefined) return reading.answered(said) === number;
  if (!/[,;]/.test(gold)) {
    return reading.plain(said) === reading.plain(gold);
  }
  const wanted = gold.split(/[,;]/);
  const found = said.split(/[,;]/);
  return (
    wanted.length === found.length &&
    wanted.every((one, index) => {
      const part = found[index] ?? "";
      const value = reading.expected(one);
      return value === undefined ? bare(part) === bare(one) : reading.answered(part) === value;
    })
  );
}

const scoreWith =
  (reading: Reading) =>
  (question: Input): Outcome<boolean> =>
    given(correct(question, reading));

export const gaiaQuestion = defineScorer({
  name: "gaia.question",
  version: 1,
  input,
  score: { faithful: scoreWith(faithful), strict: scoreWith(strict) },
  reward: Number,
});
