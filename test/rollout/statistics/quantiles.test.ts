import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  betaQuantile,
  fQuantile,
  normalQuantile,
  tQuantile,
  twoSidedT,
} from "../../../src/rollout/statistics/index.js";
import { golden, near } from "./golden.js";

const { normal, t, f, beta } = golden.quantile;

describe("quantiles", () => {
  it.each(normal)("of the normal distribution at %s are scipy's", (p, z) => {
    expect(normalQuantile(p)).toBeCloseTo(z, 13);
  });

  it.each(t)("of Student's t at %s, df %s, are scipy's", (p, df, expected) => {
    // At a half it is 0, of which no relative error can be told.
    if (p === 0.5) expect(Math.abs(tQuantile(p, df))).toBeLessThan(1e-12);
    else near(tQuantile(p, df), expected, 1e-10);
  });

  it.each(f)("of F at %s, df %s and %s, are scipy's", (p, d1, d2, expected) => {
    near(fQuantile(p, d1, d2), expected, 1e-10);
  });

  it.each(beta)("of the beta distribution at %s, a %s, b %s, are scipy's", (p, a, b, expected) => {
    near(betaQuantile(p, a, b), expected, 2e-11);
  });

  it("have their ends at the ends", () => {
    expect(normalQuantile(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(normalQuantile(1)).toBe(Number.POSITIVE_INFINITY);
    expect(betaQuantile(0, 3, 4)).toBe(0);
    expect(betaQuantile(1, 3, 4)).toBe(1);
  });

  it("rise with the share", () => {
    const share = fc.double({ min: 1e-9, max: 1 - 1e-9, noNaN: true });
    const parameter = fc.double({ min: 0.5, max: 1e5, noNaN: true });
    fc.assert(
      fc.property(share, share, parameter, parameter, (one, other, a, b) => {
        const [p, q] = [Math.min(one, other), Math.max(one, other)];
        fc.pre(q - p > 1e-6);
        expect(betaQuantile(p, a, b)).toBeLessThan(betaQuantile(q, a, b));
        expect(fQuantile(p, a, b)).toBeLessThan(fQuantile(q, a, b));
        expect(tQuantile(p, a)).toBeLessThan(tQuantile(q, a));
        expect(normalQuantile(p)).toBeLessThan(normalQuantile(q));
      }),
    );
  });

  it("of t approach the normal distribution's", () => {
    expect(twoSidedT(0.95, 1e7)).toBeCloseTo(normalQuantile(0.975), 6);
  });
});
