import { ShinkenError } from "../../errors/index.js";
import { checkScores, checkShare, checkWhole } from "./counts.js";
import type { Estimate } from "./estimate.js";
import { Random } from "./random.js";
import { resampledMean, resamplingOf, type Tasks } from "./resample.js";
import { defaultConfidence, type Interval } from "./share.js";
import { mean, quantileOfSorted } from "./summary.js";

export interface BootstrapOptions {
  /** Whole number from 0; 0 unless told. The same seed, the same interval, on every platform. */
  seed?: number | undefined;
  /** 10,000 unless told. */
  resamples?: number | undefined;
  confidence?: number | undefined;
}

export const defaultResamples = 10_000;

/** Random numbers that one interval may take: at most half a minute of one processor. */
export const mostDraws = 2_000_000_000;

/**
 * Mean score over tasks, each task with the same weight, with its hierarchical bootstrap interval (percentile method; Davison and
 * Hinkley 1997, section 3.8): tasks are drawn with replacement, and the replicas of each drawn task again.
 * @param tasks graded scores in [0, 1] of each task; a task without any has no mean and is left out
 */
export function bootstrapMean(
  tasks: readonly (readonly number[])[],
  options: BootstrapOptions = {},
): Estimate {
  checkScores(tasks);
  const seen = tasks.filter((scores) => scores.length > 0);
  const value = mean(seen.map((scores) => mean(scores) ?? 0));
  if (value === null) return { value, ci: null, reason: "no graded replica" };
  if (seen.length === 1 && seen[0]?.length === 1)
    return { value, ci: null, reason: "one graded replica alone: nothing to resample" };
  const ci = percentileInterval(
    seen.map((scores) => [scores]),
    options,
  );
  const first = seen[0]?.[0];
  const equal = seen.every((scores) => scores.every((score) => score === first));
  const reason = equal
    ? "all graded scores are equal: resampling them shows no spread, which does not mean that there is none"
    : null;
  return { value, ci, reason };
}

/** Percentile interval of the mean over tasks. */
export function percentileInterval(tasks: Tasks, options: BootstrapOptions): Interval {
  const { confidence = defaultConfidence, resamples = defaultResamples, seed = 0 } = options;
  checkShare("confidence", confidence);
  checkWhole("resamples", resamples, 1);
  const resampling = resamplingOf(tasks);
  if (resampling.work * resamples > mostDraws) {
    const fewer = Math.floor(mostDraws / resampling.work);
    throw new ShinkenError("too_large", `resamples: ${resamples} of so many different scores take too long`, {
      path: "resamples",
      suggestion: `at most ${fewer} for these scores`,
    });
  }
  const random = new Random(seed);
  const means = new Float64Array(resamples);
  for (let index = 0; index < resamples; index += 1) means[index] = resampledMean(resampling, random);
  means.sort();
  const tail = (1 - confidence) / 2;
  return [quantileOfSorted(means, tail), quantileOfSorted(means, 1 - tail)];
}
