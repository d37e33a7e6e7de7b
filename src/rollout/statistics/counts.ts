/** What figures may be asked of: a number outside is the caller's mistake, not the data's. */

/** Throws unless c of n is a count of passes and k a number of tries. */
export function checkCounts(n: number, c: number, k = 1): void {
  const fits = [n, c, k].every(Number.isInteger) && c >= 0 && c <= n && k >= 1;
  if (!fits) throw new RangeError(`no counts of replicas: n=${n}, c=${c}, k=${k}`);
}

/** Throws unless the value is a share between 0 and 1, both excluded: a confidence, a power. */
export function checkShare(name: string, value: number): void {
  if (!(value > 0 && value < 1)) throw new RangeError(`${name}: must lie between 0 and 1, not ${value}`);
}

/** Throws unless the value is a whole number of at least `least`. */
export function checkWhole(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`${name}: must be a whole number of at least ${least}, not ${value}`);
}

/** Throws unless all values are scores: numbers from 0 to 1. */
export function checkScores(tasks: readonly (readonly number[])[]): void {
  for (const scores of tasks)
    for (const score of scores) if (!(score >= 0 && score <= 1)) throw new RangeError(`no score: ${score}`);
}
