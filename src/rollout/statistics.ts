/** Statistics of replicas. Ungraded replicas are never among the `n` that these functions are given. */

/**
 * Unbiased estimate of the chance that at least one of k tries passes, from c passes in n replicas:
 * 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374). Null if n < k: it cannot be told.
 */
export function passAtK(n: number, c: number, k: number): number | null {
  checkCounts(n, c, k);
  if (n < k) return null;
  if (k === 1) return c / n;
  let noneOfK = 1;
  for (let index = 0; index < k; index += 1) noneOfK *= Math.max(0, n - c - index) / (n - index);
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
  for (let index = 0; index < k; index += 1) allOfK *= Math.max(0, c - index) / (n - index);
  return allOfK;
}

/** Two-sided quantile of the normal distribution for 95 %. */
export const z95 = 1.959963984540054;

/** Wilson's score interval of a share, 95 % unless told; [0, 1] without any observation. */
export function wilson(n: number, c: number, z = z95): [number, number] {
  checkCounts(n, c, 1);
  if (n === 0) return [0, 1];
  const share = c / n;
  const spread = z * z;
  const middle = (share + spread / (2 * n)) / (1 + spread / n);
  const half = (z / (1 + spread / n)) * Math.sqrt((share * (1 - share)) / n + spread / (4 * n * n));
  // At the ends the exact bound is 0 or 1; floating point would miss it by a rounding.
  return [c === 0 ? 0 : Math.max(0, middle - half), c === n ? 1 : Math.min(1, middle + half)];
}

/**
 * 95 % interval of the chance that k tries all pass: Wilson's interval of one try, both ends to the k-th power. The
 * power is monotone, so the coverage stays.
 */
export function passHatKInterval(n: number, c: number, k: number): [number, number] {
  checkCounts(n, c, k);
  const [low, high] = wilson(n, c);
  return [low ** k, high ** k];
}

/** Mean, or null of nothing. */
export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Quantile by linear interpolation between order statistics (type 7, as scipy's and numpy's default); null of nothing. */
export function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

function checkCounts(n: number, c: number, k: number): void {
  const fits = [n, c, k].every(Number.isInteger) && c >= 0 && c <= n && k >= 1;
  if (!fits) throw new RangeError(`no counts of replicas: n=${n}, c=${c}, k=${k}`);
}
