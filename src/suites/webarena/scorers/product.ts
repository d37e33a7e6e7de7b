/** How both dialects put the scores of their reference answers together. */
import { fault, given, type Outcome } from "../../scorer.js";

/** A fuzzy match that no model has judged. */
export const unjudged = fault(
  "NeedsJudge",
  "a fuzzy match needs a model's judgement in `judged` or `judged_unachievable`",
);

/** The product of all scores; undefined is one that waits for a judge. A 0 stands whatever the judge would say. */
export function productOf(scores: readonly (number | undefined)[]): Outcome<number> {
  if (scores.includes(0)) return given(0);
  if (scores.includes(undefined)) return unjudged;
  return scores.length === 0
    ? fault("ValueError", "no reference answer is given")
    : given(scores.reduce<number>((product, score) => product * (score ?? 0), 1));
}
