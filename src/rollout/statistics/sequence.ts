/** Intervals that may be looked at as often as one likes, and stopping on them. */
import { checkShare, checkWhole } from "./counts.js";
import { binomialTerm } from "./saddle-point.js";
import { defaultConfidence, type Interval } from "./share.js";

/** Halvings after which the ends of an interval no longer move. */
const halvings = 60;

/**
 * Confidence sequence of a mean of scores in [0, 1], n of them with this sum: with the stated confidence the true mean lies in the
 * intervals of all n at once, so looking after every replica, and stopping when one likes what one sees, costs nothing.
 * It holds the means m at which the mixture martingale (n+1) C(n,s) m^s (1-m)^(n-s) is above alpha: Robbins' mixture over a
 * uniform prior (Robbins 1970, Annals of Mathematical Statistics 41, 1397-1409; as prior-posterior ratio in Waudby-Smith and Ramdas
 * 2020, arXiv 2006.04347), with Ville's inequality. It is exact for passes; for scores between 0 and 1 it holds as well,
 * since a^x b^(1-x) <= a x + b (1-x) (Hoeffding 1963). The replicas must be independent draws of one task.
 */
export function confidenceSequence(n: number, sum: number, confidence = defaultConfidence): Interval {
  checkWhole("n", n, 0);
  checkShare("confidence", confidence);
  if (!(sum >= 0 && sum <= n)) throw new RangeError(`no sum of ${n} scores: ${sum}`);
  if (n === 0) return [0, 1];
  const alpha = 1 - confidence;
  const inside = (mean: number): boolean => (n + 1) * term(n, sum, mean) > alpha;
  const best = sum / n;
  return [sum === 0 ? 0 : edge(best, 0, inside), sum === n ? 1 : edge(best, 1, inside)];
}

/** C(n,s) m^s (1-m)^(n-s), s not always a whole number. */
function term(n: number, sum: number, mean: number): number {
  if (sum === 0) return (1 - mean) ** n;
  if (sum === n) return mean ** n;
  return mean <= 0 || mean >= 1 ? 0 : binomialTerm(sum, n - sum, mean, 1 - mean);
}

/** Where a set that holds `from` ends on the way to `to`; the end returned is outside, or `to` itself. */
function edge(from: number, to: number, inside: (mean: number) => boolean): number {
  let held = from;
  let out = to;
  if (inside(to)) return to;
  for (let step = 0; step < halvings; step += 1) {
    const middle = (held + out) / 2;
    if (inside(middle)) held = middle;
    else out = middle;
  }
  return out;
}

export interface Wanted {
  /** Widest interval that is narrow enough, from 0 to 1. */
  width: number;
  confidence?: number | undefined;
}

/**
 * Whether n graded replicas with this sum of scores tell the mean narrowly enough to stop. May be asked after every replica: the
 * interval keeps its confidence, unlike Wilson's, whose coverage falls each time one looks (a test shows by how much).
 */
export function narrowEnough(n: number, sum: number, wanted: Wanted): { enough: boolean; ci: Interval } {
  checkWidth(wanted.width);
  const ci = confidenceSequence(n, sum, wanted.confidence);
  return { enough: ci[1] - ci[0] <= wanted.width, ci };
}

/** Replicas beyond which nobody waits. */
const mostReplicas = 1_000_000;

/**
 * About how many graded replicas a task needs until `narrowEnough`, if its mean is `share`; a half needs the most. Null beyond a
 * million. For estimates of what is left to do: what stops is what is seen.
 */
export function replicasUntilNarrow(wanted: Wanted, share = 0.5): number | null {
  if (!(share >= 0 && share <= 1)) throw new RangeError(`share: must lie from 0 to 1, not ${share}`);
  checkWidth(wanted.width);
  const enough = (n: number): boolean => narrowEnough(n, n * share, wanted).enough;
  let high = 1;
  while (!enough(high)) {
    high *= 2;
    if (high > mostReplicas) return null;
  }
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function checkWidth(width: number): void {
  if (!(width > 0 && width <= 1)) throw new RangeError(`width: must be above 0 and at most 1, not ${width}`);
}
