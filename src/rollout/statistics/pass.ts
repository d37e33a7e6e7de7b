/** The chance that tries pass, from graded replicas. Ungraded replicas are never among the `n` that these are given. */
import { checkCounts } from "./counts.js";
import { type Interval, wilson } from "./share.js";

/**
 * Unbiased estimate of the chance that at least one of k tries passes, from c passes in n replicas:
 * 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374). Null if n < k: it cannot be told.
 */
export function passAtK(n: number, c: number, k: number): number | null {
  checkCounts(n, c, k);
  if (n < k) return null;
  if (k === 1) return c / n;
  let noneOfK = 1;
  for (let index = 0; index < k && noneOfK > 0; index += 1)
    noneOfK *= Math.max(0, n - c - index) / (n - index);
  return 1 - noneOfK;
}

/**
 * Unbiased estimate of the chance that all of k tries pass: C(c, k) / C(n, k) (Yao et al. 2024, arXiv 2406.12045).
 * Null if n < k.
 */
export function passHatK(n: number, c: number, k: number): number | null {
  checkCounts(n, c, k);
  if (n < k) return null;
  let allOfK = 1;
  for (let index = 0; index < k && allOfK > 0; index += 1) allOfK *= Math.max(0, c - index) / (n - index);
  return allOfK;
}

/**
 * Interval of the chance that k tries all pass: Wilson's interval of one try, both ends to the k-th power. The power is
 * monotone, so the coverage stays.
 */
export function passHatKInterval(n: number, c: number, k: number, confidence?: number): Interval {
  checkCounts(n, c, k);
  const [low, high] = wilson(n, c, confidence);
  return [low ** k, high ** k];
}
