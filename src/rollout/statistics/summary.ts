/**
 * Sum with Neumaier's compensation (1974, ZAMM 54, 39-51): exact to the last digit for scores, whatever their number, and
 * so nearly always the same in any order.
 */
export function sumOf(values: Iterable<number>): number {
  let sum = 0;
  let lost = 0;
  for (const value of values) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

/** Mean, or null of nothing. */
export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sumOf(values) / values.length;
}

/** Quantile by linear interpolation between order statistics (type 7, as scipy's and numpy's default); null of nothing. */
export function quantile(values: readonly number[], share: number): number | null {
  return values.length === 0 ? null : quantileOfSorted(Float64Array.from(values).sort(), share);
}

/** The same of at least one value, in ascending order. */
export function quantileOfSorted(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? 0;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
