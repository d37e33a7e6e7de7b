import type { TaskVariant } from "../../env/task/index.js";
import type { EpisodeOutcome } from "../episode.js";
import type { EfficiencyTask, EpisodeCost } from "./cost.js";

/** An episode's cost as its outcome tells it: steps are not traced there, and guest and harness are not told apart. */
export function costOf(outcome: EpisodeOutcome, variant: TaskVariant): EpisodeCost {
  const { account } = outcome;
  return {
    task: outcome.task,
    score: outcome.score,
    steps: outcome.steps,
    stepLimit: variant.task.limits.steps,
    times: outcome.stepMs.map((unsplit, index) => ({
      model: outcome.operatorMs[index] ?? null,
      guest: null,
      harness: null,
      judge: null,
      unsplit,
    })),
    resetMs: outcome.resetMs,
    gradeMs: outcome.evaluateMs,
    model: account?.served ?? null,
    tokensIn: account?.tokens_in ?? null,
    tokensOut: account?.tokens_out ?? null,
    dollars: account?.dollars ?? null,
    trace: null,
    stoppedForLoop: account === null ? null : account.stopped === "loop",
    expect: variant.task.expect,
    forbidden: null,
  };
}

/** A task as efficiency knows it; ours count a person's actions singly. */
export function efficiencyTaskOf({ task }: TaskVariant): EfficiencyTask {
  return {
    id: task.id,
    human: task.human === undefined ? null : { single: task.human.steps, grouped: null },
  };
}
