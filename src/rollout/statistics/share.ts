/** Intervals of a share: c passes in n graded replicas. */
import { betaPoint } from "./beta.js";
import { checkCounts, checkShare } from "./counts.js";
import { twoSidedZ } from "./normal.js";

/** Low and high end. */
export type Interval = [number, number];

/** What intervals cover unless told otherwise. */
export const defaultConfidence = 0.95;

/**
 * Wilson's score interval (Wilson 1927, JASA 22, 209-212), without continuity correction. Its coverage is near the
 * confidence on average, and below it for some shares. [0, 1] without any observation.
 */
export function wilson(n: number, c: number, confidence = defaultConfidence): Interval {
  checkCounts(n, c);
  checkShare("confidence", confidence);
  if (n === 0) return [0, 1];
  const z = twoSidedZ(confidence);
  const share = c / n;
  const spread = z * z;
  const middle = (share + spread / (2 * n)) / (1 + spread / n);
  const half = (z / (1 + spread / n)) * Math.sqrt((share * (1 - share)) / n + spread / (4 * n * n));
  // At the ends the exact bound is 0 or 1; floating point would miss it by a rounding.
  return [c === 0 ? 0 : Math.max(0, middle - half), c === n ? 1 : Math.min(1, middle + half)];
}

/**
 * The exact interval (Clopper and Pearson 1934, Biometrika 26, 404-413): quantiles of the beta distribution. It covers at least
 * with the confidence whatever the share, often with more. [0, 1] without any observation.
 */
export function clopperPearson(n: number, c: number, confidence = defaultConfidence): Interval {
  checkCounts(n, c);
  checkShare("confidence", confidence);
  const tail = (1 - confidence) / 2;
  const low = c === 0 ? 0 : betaPoint({ lower: tail, upper: 1 - tail }, c, n - c + 1).x;
  const high = c === n ? 1 : betaPoint({ lower: 1 - tail, upper: tail }, c + 1, n - c).x;
  return [low, high];
}
