import type { EpisodeCost, StepTime } from "../../../src/rollout/efficiency/index.js";

/** A graded episode of a task that is to be done; the rest as told. */
export function episode(told: Partial<EpisodeCost> & { task: string }): EpisodeCost {
  return {
    score: 1,
    steps: 0,
    stepLimit: 50,
    times: [],
    resetMs: 0,
    gradeMs: 0,
    model: null,
    tokensIn: null,
    tokensOut: null,
    dollars: null,
    trace: null,
    stoppedForLoop: null,
    expect: "act",
    forbidden: null,
    ...told,
  };
}

/** A step of which the rest is not told. */
export const time = (told: Partial<StepTime>): StepTime => ({
  model: null,
  guest: null,
  harness: null,
  judge: null,
  unsplit: null,
  ...told,
});
