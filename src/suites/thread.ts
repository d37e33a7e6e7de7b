/** A scorer in a verifier thread. */
import { ShinkenError } from "../errors/index.js";
import type { Score } from "../verifiers/scorer/library.js";
import { faultText } from "./scorer.js";
import { findScorer } from "./scorers.js";

/** Faults that nothing malformed is behind: a judge was not asked, or said nothing that is a score. */
const OPEN = ["NeedsJudge", "NoScore"];

const score: Score = (id, input) => {
  const scorer = findScorer(id);
  try {
    const outcome = scorer.grade(input);
    if (outcome.fault === undefined) return { score: outcome.value };
    return { fault: faultText(outcome.fault), open: OPEN.includes(outcome.fault.kind) };
  } catch (error) {
    // What was read is not of the form that the scorer takes.
    if (error instanceof ShinkenError && error.code === "bad_request")
      return { fault: error.message, open: false };
    throw error;
  }
};

export default score;
