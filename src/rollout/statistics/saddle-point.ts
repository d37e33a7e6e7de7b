/**
 * Terms of the binomial distribution without cancellation, also for large numbers (Loader 2000, "Fast and accurate
 * computation of binomial probabilities"), for whole and for fractional numbers.
 */

/** From here on five terms of Stirling's series are exact to the last digit. */
const seriesFrom = 16;

/** log(z!) less Stirling's formula, for z > 0: log(z!) - log(sqrt(2 pi z) (z/e)^z). */
function stirlingError(z: number): number {
  let error = 0;
  let at = z;
  for (; at < seriesFrom; at += 1) error += (at + 0.5) * Math.log1p(1 / at) - 1;
  const inverse = 1 / (at * at);
  const series =
    1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse * (1 / 1188))));
  return error + series / at;
}

/** x log(x / m) + m - x: how far x is from its mean m, as its deviance tells. */
function deviance(x: number, m: number): number {
  const apart = x - m;
  if (Math.abs(apart) >= 0.1 * (x + m)) return x * Math.log(x / m) + m - x;
  const v = apart / (x + m);
  let sum = apart * v;
  let power = 2 * x * v;
  for (let term = 3; ; term += 2) {
    power *= v * v;
    const next = sum + power / term;
    if (next === sum) return sum;
    sum = next;
  }
}

/** Gamma(a+b+1) / (Gamma(a+1) Gamma(b+1)) x^a y^b for x + y = 1; for whole numbers the chance of a successes in a + b tries. */
export function binomialTerm(a: number, b: number, x: number, y: number): number {
  const n = a + b;
  const exponent =
    stirlingError(n) - stirlingError(a) - stirlingError(b) - deviance(a, n * x) - deviance(b, n * y);
  return Math.exp(exponent) * Math.sqrt(n / (2 * Math.PI * a * b));
}
