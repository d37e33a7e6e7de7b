/** Quantiles and tails of Student's t and of F, out of the incomplete beta function (DLMF 8.17; Abramowitz and Stegun 26.5, 26.6). */
import { betaPoint, betaTails, type Tails } from "./beta.js";

/** The t of which a share `confidence` lies between -t and t, for df > 0 degrees of freedom. */
export const twoSidedT = (confidence: number, df: number): number =>
  distance({ lower: 1 - confidence, upper: confidence }, df);

/** The t below which a share `p` of Student's distribution lies. */
export const tQuantile = (p: number, df: number): number =>
  p < 0.5
    ? -distance({ lower: 2 * p, upper: 1 - 2 * p }, df)
    : distance({ lower: 2 * (1 - p), upper: 2 * p - 1 }, df);

/** The distance from 0 beyond which `lower` lies on both sides together, and within which `upper`. */
function distance(tails: Tails, df: number): number {
  // df / (df + t^2) has the beta distribution (df/2, 1/2).
  const { x, y } = betaPoint(tails, df / 2, 0.5);
  return Math.sqrt((df * y) / x);
}

/** The chance that t is at least this far from 0, on either side. */
export function twoSidedTail(t: number, df: number): number {
  const all = df + t * t;
  return betaTails({ x: df / all, y: (t * t) / all }, df / 2, 0.5).lower;
}

/** The F below which a share `p` lies, for d1 and d2 degrees of freedom. */
export function fQuantile(p: number, d1: number, d2: number): number {
  const { x, y } = betaPoint({ lower: p, upper: 1 - p }, d1 / 2, d2 / 2);
  return (d2 * x) / (d1 * y);
}
