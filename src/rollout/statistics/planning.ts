import { checkShare, checkWhole } from "./counts.js";
import { tQuantile } from "./distributions.js";
import { defaultConfidence } from "./share.js";

export interface Plan {
  /** Tasks of each run, at least 2. */
  tasks: number;
  /** Replicas of each task in each run. */
  replicas: number;
  /** Share of the variance of single scores that lies between tasks, from 0 to 1: `icc1` of an earlier run. */
  icc: number;
  /** Standard deviation of single scores; 0.5 unless told, which no scores in [0, 1] exceed. */
  sd?: number | undefined;
  /**
   * Correlation of the two runs' true task means, from 0 to 1: 0 for different tasks, 1 where a change moves all tasks by the same.
   * 0 unless told, which promises least.
   */
  pairing?: number | undefined;
  confidence?: number | undefined;
  /** The chance to find a difference of the size that is returned; 0.8 unless told. */
  power?: number | undefined;
}

const defaultPower = 0.8;
const largestSd = 0.5;

/**
 * The smallest difference of two runs' mean scores that a plan finds with the wanted power, two-sided:
 *
 *     (t[1 - alpha/2, T-1] + t[power, T-1]) * sqrt(2 sd^2 (icc (1 - pairing) + (1 - icc) / K) / T)
 *
 * for T tasks and K replicas: Bloom's multiplier (1995, Evaluation Review 19, 547-556) with the variance of a paired mean
 * difference (Miller 2024, arXiv 2411.00640, section 5). More replicas shrink only the second term.
 */
export function minimumDetectable(plan: Plan): number {
  const { tasks, replicas, icc, sd = largestSd, pairing = 0 } = plan;
  const { confidence = defaultConfidence, power = defaultPower } = plan;
  checkWhole("tasks", tasks, 2);
  checkWhole("replicas", replicas, 1);
  checkShare("confidence", confidence);
  checkShare("power", power);
  for (const [name, value] of Object.entries({ icc, pairing }))
    if (!(value >= 0 && value <= 1)) throw new RangeError(`${name}: must lie from 0 to 1, not ${value}`);
  if (!(sd >= 0)) throw new RangeError(`sd: must be at least 0, not ${sd}`);
  const variance = (2 * sd * sd * (icc * (1 - pairing) + (1 - icc) / replicas)) / tasks;
  const df = tasks - 1;
  return (tQuantile((1 + confidence) / 2, df) + tQuantile(power, df)) * Math.sqrt(variance);
}
