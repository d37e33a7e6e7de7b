import { type BootstrapOptions, percentileInterval } from "./bootstrap.js";
import { checkScores, checkShare } from "./counts.js";
import { twoSidedT, twoSidedTail } from "./distributions.js";
import { defaultConfidence, type Interval } from "./share.js";
import { mean } from "./summary.js";

/** Graded scores in [0, 1] of each task. */
export type Scores = readonly (readonly number[])[];

export interface PairedDifference {
  /** Tasks with a graded replica in both runs; all figures are of these. */
  tasks: number;
  /** Tasks that lack one in a run, counted beside. */
  leftOut: number;
  /** Mean over tasks of the second run's mean score less the first's; null where no task has both. */
  difference: number | null;
  /** Student's interval of the mean of the tasks' differences, and the two-sided p of no difference. */
  t: { ci: Interval; p: number } | null;
  /** Hierarchical bootstrap: tasks as pairs, then replicas of each run. */
  bootstrap: Interval | null;
  /** Why something is null. */
  reason: string | null;
}

/**
 * The difference of two runs on the same tasks, task by task: what makes tasks easy or hard for both runs drops out of
 * its spread. Both intervals speak of tasks like these; whether something changed on these very tasks is `regressionOf`'s.
 * @param first scores of the run that is compared with; its task i is task i of `second`
 */
export function pairedDifference(
  first: Scores,
  second: Scores,
  options: BootstrapOptions = {},
): PairedDifference {
  const { confidence = defaultConfidence } = options;
  checkShare("confidence", confidence);
  const pairs = pairsOf(first, second);
  const differences = pairs.map(([a, b]) => (mean(b) ?? 0) - (mean(a) ?? 0));
  const difference = mean(differences);
  const common = { tasks: pairs.length, leftOut: first.length - pairs.length, difference };
  if (difference === null)
    return { ...common, t: null, bootstrap: null, reason: "no task has a graded replica in both runs" };
  const alone = pairs.length === 1 && pairs[0]?.every(({ length }) => length === 1);
  const bootstrap = alone === true ? null : percentileInterval(pairs, options);
  if (pairs.length === 1) return { ...common, t: null, bootstrap, reason: "one task alone has no spread" };
  const df = pairs.length - 1;
  const variance = differences.reduce((sum, value) => sum + (value - difference) ** 2, 0) / df;
  if (differences.every((value) => value === differences[0]) || variance === 0)
    return { ...common, t: null, bootstrap, reason: "the difference is the same for every task: no spread" };
  const error = Math.sqrt(variance / pairs.length);
  const half = twoSidedT(confidence, df) * error;
  const t = {
    ci: [difference - half, difference + half] as Interval,
    p: twoSidedTail(difference / error, df),
  };
  return { ...common, t, bootstrap, reason: null };
}

/** The scores of both runs, of each task that has some in both. */
export function pairsOf(first: Scores, second: Scores): [readonly number[], readonly number[]][] {
  if (first.length !== second.length)
    throw new RangeError(`runs of unequal tasks: ${first.length} and ${second.length}`);
  checkScores(first);
  checkScores(second);
  return first.flatMap((scores, index) => {
    const others = second[index] ?? [];
    return scores.length === 0 || others.length === 0
      ? []
      : [[scores, others] as [typeof scores, typeof others]];
  });
}
