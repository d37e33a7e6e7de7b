/** AndroidWorld: the mean of a composite task's parts, what the agent's own declaration makes of it, and the success of the whole. */
import { z } from "zod";
import { defineScorer, fault, given, type Outcome } from "../../scorer.js";

const input = z.strictObject({
  /** What each part's own check gives, from 0 to 1. */
  parts: z.array(z.number().min(0).max(1)),
  /** Whether the agent declared that it is done. */
  done: z.boolean(),
});
type Input = z.output<typeof input>;

export interface CompositeScore {
  score: number;
  success: boolean;
}

/** Above half is success, so that two parts of three are, and a mean of one half is not. */
function faithful({ parts, done }: Input): Outcome<CompositeScore> {
  if (parts.length === 0) return fault("ZeroDivisionError", "division by zero");
  const score = done ? parts.reduce((sum, part) => sum + part, 0) / parts.length : 0;
  return given({ score, success: score > 0.5 });
}

/** Only all parts are success. */
function strict(one: Input): Outcome<CompositeScore> {
  const outcome = faithful(one);
  if (outcome.fault !== undefined) return outcome;
  return given({ score: outcome.value.score, success: one.done && one.parts.every((part) => part === 1) });
}

export const androidWorldComposite = defineScorer({
  name: "androidworld.composite",
  version: 1,
  input,
  score: { faithful, strict },
  reward: ({ score }) => score,
});
