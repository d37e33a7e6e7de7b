/**
 * Structural similarity after Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli, "Image quality assessment: from error visibility
 * to structural similarity", IEEE Transactions on Image Processing 13(4), 2004: an 11 x 11 Gaussian window of standard deviation 1.5,
 * K1 = 0.01, K2 = 0.03, and the mean over all windows that lie in the picture as a whole.
 */
export const WINDOW = 11;
const RADIUS = (WINDOW - 1) / 2;
const SIGMA = 1.5;
const RANGE = 255;
const C1 = (0.01 * RANGE) ** 2;
const C2 = (0.03 * RANGE) ** 2;

const raw = Array.from({ length: WINDOW }, (_, index) =>
  Math.exp(-((index - RADIUS) ** 2) / (2 * SIGMA ** 2)),
);
const total = raw.reduce((sum, value) => sum + value, 0);
const WEIGHTS = Float64Array.from(raw, (value) => value / total);

/** Of x, y, x², y² and xy: the weighted sums over one row's windows. */
const PLANES = 5;

/** Weighted horizontally; `row` is the index of the row's first pixel. */
function filterRow(x: Float64Array, y: Float64Array, row: number, width: number, out: Float64Array): void {
  const count = width - WINDOW + 1;
  for (let at = 0; at < count; at++) {
    let sumX = 0;
    let sumY = 0;
    let sumXX = 0;
    let sumYY = 0;
    let sumXY = 0;
    for (let tap = 0; tap < WINDOW; tap++) {
      const weight = WEIGHTS[tap] as number;
      const a = x[row + at + tap] as number;
      const b = y[row + at + tap] as number;
      sumX += weight * a;
      sumY += weight * b;
      sumXX += weight * a * a;
      sumYY += weight * b * b;
      sumXY += weight * a * b;
    }
    out[at] = sumX;
    out[count + at] = sumY;
    out[2 * count + at] = sumXX;
    out[3 * count + at] = sumYY;
    out[4 * count + at] = sumXY;
  }
}

/**
 * The mean structural similarity of two planes of 0 to 255, at most 1. Both have `width` times `height` values; neither side may be
 * shorter than the window.
 */
export function meanSsim(x: Float64Array, y: Float64Array, width: number, height: number): number {
  const count = width - WINDOW + 1;
  const rows = Array.from({ length: WINDOW }, () => new Float64Array(PLANES * count));
  const sums = new Float64Array(PLANES * count);
  let whole = 0;
  for (let row = 0; row < height; row++) {
    filterRow(x, y, row * width, width, rows[row % WINDOW] as Float64Array);
    if (row < WINDOW - 1) continue;
    sums.fill(0);
    for (let tap = 0; tap < WINDOW; tap++) {
      const weight = WEIGHTS[tap] as number;
      const line = rows[(row - WINDOW + 1 + tap) % WINDOW] as Float64Array;
      for (let at = 0; at < sums.length; at++)
        sums[at] = (sums[at] as number) + weight * (line[at] as number);
    }
    for (let at = 0; at < count; at++) whole += windowSsim(sums, count, at);
  }
  return whole / (count * (height - WINDOW + 1));
}

function windowSsim(sums: Float64Array, count: number, at: number): number {
  const ux = sums[at] as number;
  const uy = sums[count + at] as number;
  const xx = sums[2 * count + at] as number;
  const yy = sums[3 * count + at] as number;
  const xy = sums[4 * count + at] as number;
  const above = (2 * ux * uy + C1) * (2 * (xy - ux * uy) + C2);
  const below = (ux * ux + uy * uy + C1) * (xx - ux * ux + (yy - uy * uy) + C2);
  return above / below;
}
