import { checkScores, checkShare } from "./counts.js";
import { fQuantile } from "./distributions.js";
import type { Estimate } from "./estimate.js";
import { defaultConfidence } from "./share.js";
import { mean } from "./summary.js";

/** One-way analysis of variance of tasks. */
interface Variance {
  /** Mean squares between and within tasks, with their degrees of freedom. */
  between: number;
  within: number;
  dfBetween: number;
  dfWithin: number;
  /** Replicas a task: their number where it is the same for all, otherwise n0 = (N - sum n_i^2 / N) / (a - 1). */
  replicas: number;
}

/**
 * Intraclass correlation of the one-way random model, ICC(1) (Shrout and Fleiss 1979, Psychological Bulletin 86, 420-428): the
 * share of the variance of single scores that lies between tasks. Its interval is that of the F ratio. With unequal
 * replicas n0 (Searle, Casella and McCulloch 1992, "Variance Components", 3.6) stands for their number in both, and the interval is
 * approximate. The estimate may be below 0, down to -1 / (n0 - 1): then tasks differ less than chance would have it.
 * @param tasks graded scores in [0, 1] of each task; a task without any is left out
 */
export function icc1(tasks: readonly (readonly number[])[], confidence = defaultConfidence): Estimate {
  checkScores(tasks);
  checkShare("confidence", confidence);
  const seen = tasks.filter((scores) => scores.length > 0);
  const nothing = (reason: string): Estimate => ({ value: null, ci: null, reason });
  if (seen.length < 2) return nothing("fewer than two tasks with a graded replica");
  if (seen.every(({ length }) => length === 1))
    return nothing("no task has two graded replicas: variance within tasks is unknown");
  const { between, within, dfBetween, dfWithin, replicas } = varianceOf(seen);
  if (within === 0) {
    if (between === 0) return nothing("all graded scores are equal: there is no variance to divide");
    return { value: 1, ci: [1, 1], reason: "replicas of a task never differ" };
  }
  const ratio = between / within;
  const tail = (1 - confidence) / 2;
  const correlation = (f: number): number => (f - 1) / (f + replicas - 1);
  const low = correlation(ratio / fQuantile(1 - tail, dfBetween, dfWithin));
  const high = correlation(ratio * fQuantile(1 - tail, dfWithin, dfBetween));
  return { value: correlation(ratio), ci: [low, high], reason: null };
}

function varianceOf(tasks: readonly (readonly number[])[]): Variance {
  const all = tasks.reduce((sum, { length }) => sum + length, 0);
  const means = tasks.map((scores) =>
    // Equal scores have exactly this mean: no variance must come out of rounding.
    scores.every((score) => score === scores[0]) ? (scores[0] ?? 0) : (mean(scores) ?? 0),
  );
  const sizeOf = (index: number): number => tasks[index]?.length ?? 0;
  const grand = means.reduce((sum, value, index) => sum + value * sizeOf(index), 0) / all;
  const equal = means.every((value) => value === means[0]);
  const squares = (values: readonly number[], from: number): number =>
    values.reduce((sum, value) => sum + (value - from) ** 2, 0);
  const between = equal
    ? 0
    : means.reduce((sum, value, index) => sum + sizeOf(index) * (value - grand) ** 2, 0);
  const within = tasks.reduce((sum, scores, index) => sum + squares(scores, means[index] ?? 0), 0);
  const dfBetween = tasks.length - 1;
  const dfWithin = all - tasks.length;
  const ofSizes = tasks.reduce((sum, { length }) => sum + length * length, 0);
  return {
    between: between / dfBetween,
    within: within / dfWithin,
    dfBetween,
    dfWithin,
    replicas: (all - ofSizes / all) / dfBetween,
  };
}
