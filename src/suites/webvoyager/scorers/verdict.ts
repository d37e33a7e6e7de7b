/** WebVoyager: the verdict in a judge's prose. */
import { z } from "zod";
import { words } from "../../python/text.js";
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
/** A denial; what follows it in the clause is what it may deny. */
const denies =
  /(?<![\p{L}\p{N}_])(?:NOT?|NEVER|NEITHER|NOR|WITHOUT|HARDLY|CANNOT|[\p{L}]+N['’]T)(?![\p{L}\p{N}_])/giu;

/** As many words may stand between a denial and what it denies: `not considered to be a SUCCESS`. */
const NEAR = 4;

/** The clause that a place in a text stands in, up to that place. */
function clauseBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && !".;:!?\n".includes(text.charAt(start - 1))) start--;
  return text.slice(start, end);
}

/** Whether a word is denied: nearly before it, or by something further off in its clause that may mean something else. */
function deniedBy(clause: string): "yes" | "perhaps" | "no" {
  const last = [...clause.matchAll(denies)].at(-1);
  if (last === undefined) return "no";
  const between = clause.slice(last.index + last[0].length);
  return words(between).length <= NEAR && !between.includes(",") ? "yes" : "perhaps";
}

/**
 * Only whole words count. A failure, or a success that is denied, is no success, whatever else the text says; one with a
 * denial further off in its clause is no verdict.
 */
function strict({ text }: { text: string }): Outcome<Verdict> {
  if (denial.test(text) || text.includes("NOT SUCCESS")) return given<Verdict>(0);
  const found = [...text.matchAll(verdict)].map((one) =>
    one[1] === undefined ? deniedBy(clauseBefore(text, one.index)) : "yes",
  );
  if (found.includes("yes")) return given<Verdict>(0);
  return given<Verdict>(found.length === 0 || found.includes("perhaps") ? null : 1);
}

export const webvoyagerVerdict = defineScorer({
  name: "webvoyager.verdict",
  version: 1,
  input: z.strictObject({ text: z.string() }),
  score: { faithful, strict },
  reward: (value) => value ?? undefined,
});
