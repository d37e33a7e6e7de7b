/** WebVoyager: the verdict in a judge's prose. */
import { z } from "zod";
import { defineScorer, given, type Outcome } from "../../scorer.js";

/** 1 for success, 0 for none, null where the judge gave no verdict. */
export type Verdict = 0 | 1 | null;

/** Looks for the letters NOT SUCCESS, then for SUCCESS, anywhere: `UNSUCCESSFUL` and `NOT a SUCCESS` hold only the latter. */
function faithful({ text }: { text: string }): Outcome<Verdict> {
  if (text.includes("NOT SUCCESS")) return given<Verdict>(0);
  return given<Verdict>(text.includes("SUCCESS") ? 1 : null);
}

const denial =
  /(?<![\p{L}\p{N}_])(?:UNSUCCESSFUL(?:LY)?|NON[- ]?SUCCESS(?:FUL)?|FAIL(?:S|ED|URE|URES)?)(?![\p{L}\p{N}_])/u;
const verdict = /(?<![\p{L}\p{N}_])(NOT\s+)?SUCCESS(?:FUL(?:LY)?)?(?![\p{L}\p{N}_])/gu;
/** A denial, wherever it stands in a clause. */
const denies =
  /(?<![\p{L}\p{N}_])(?:NOT?|NEVER|NEITHER|NOR|WITHOUT|HARDLY|CANNOT|[\p{L}]+N['’]T)(?![\p{L}\p{N}_])/iu;

/** The clause that a place in a text stands in, up to that place. */
function clauseBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && !".;:!?\n".includes(text.charAt(start - 1))) start--;
  return text.slice(start, end);
}

/**
 * Only whole words count, and every one must say the same: a text that holds both verdicts, or a success with a denial
 * before it in its clause, is no success.
 */
function strict({ text }: { text: string }): Outcome<Verdict> {
  if (denial.test(text) || text.includes("NOT SUCCESS")) return given<Verdict>(0);
  const found = [...text.matchAll(verdict)];
  if (found.length === 0) return given<Verdict>(null);
  const denied = found.some((one) => one[1] !== undefined || denies.test(clauseBefore(text, one.index)));
  return given<Verdict>(denied ? 0 : 1);
}

export const webvoyagerVerdict = defineScorer({
  name: "webvoyager.verdict",
  version: 1,
  input: z.strictObject({ text: z.string() }),
  score: { faithful, strict },
  reward: (value) => value ?? undefined,
});
