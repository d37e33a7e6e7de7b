import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clopperPearson, type Interval, wilson } from "../../../src/rollout/statistics/index.js";
import { golden, nearInterval } from "./golden.js";

const intervals = { wilson, clopperPearson };
const each = Object.entries(intervals);

const counts = fc
  .integer({ min: 1, max: 400 })
  .chain((n) => fc.record({ n: fc.constant(n), c: fc.integer({ min: 0, max: n }) }));
const confidence = fc.double({ min: 0.5, max: 0.999, noNaN: true });
const width = ([low, high]: Interval): number => high - low;

describe("intervals of a share", () => {
  it.each(golden.share)(
    "of n=%i, c=%i at %f are scipy's, also of a million replicas",
    (n, c, level, ofWilson, exact) => {
      // scipy's own Wilson subtracts nearly equal numbers where c is 0 or n.
      wilson(n, c, level).forEach((end, index) => {
        expect(Math.abs(end - (ofWilson[index] ?? Number.NaN))).toBeLessThan(1e-13);
      });
      nearInterval(clopperPearson(n, c, level), exact, 2e-11);
    },
  );

  it.each(each)("%s: lies in [0, 1] and holds the share", (_, interval) => {
    fc.assert(
      fc.property(counts, confidence, ({ n, c }, level) => {
        const [low, high] = interval(n, c, level);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(c / n);
        expect(high).toBeGreaterThanOrEqual(c / n);
      }),
    );
  });

  it.each(each)("%s: both ends rise with the passes, and mirror for failures", (_, interval) => {
    fc.assert(
      fc.property(counts, confidence, ({ n, c }, level) => {
        const [low, high] = interval(n, c, level);
        const [mirroredLow, mirroredHigh] = interval(n, n - c, level);
        expect(low).toBeCloseTo(1 - mirroredHigh, 12);
        expect(high).toBeCloseTo(1 - mirroredLow, 12);
        if (c === n) return;
        const [nextLow, nextHigh] = interval(n, c + 1, level);
        expect(nextLow).toBeGreaterThan(low);
        expect(nextHigh).toBeGreaterThanOrEqual(high);
      }),
    );
  });

  it.each(each)("%s: is wider for more confidence, narrower for ten times the replicas", (_, interval) => {
    fc.assert(
      fc.property(counts, ({ n, c }) => {
        expect(width(interval(n, c, 0.99))).toBeGreaterThan(width(interval(n, c, 0.9)));
        expect(width(interval(10 * n, 10 * c))).toBeLessThan(width(interval(n, c)));
      }),
    );
  });

  it.each(each)("%s: is everything where nothing was seen", (_, interval) => {
    expect(interval(0, 0)).toEqual([0, 1]);
  });

  it.each(each)("%s: refuses a confidence that is none", (_, interval) => {
    for (const level of [0, 1, -1, 95, Number.NaN]) expect(() => interval(5, 3, level)).toThrow(RangeError);
    expect(() => interval(3, 4)).toThrow(RangeError);
  });

  it("of Clopper and Pearson cover every share at least as often as they say", () => {
    for (const n of [1, 4, 13, 30]) {
      const all = Array.from({ length: n + 1 }, (_, c) => clopperPearson(n, c, 0.9));
      for (let share = 0.01; share < 1; share += 0.01) {
        let covered = 0;
        let chance = (1 - share) ** n;
        all.forEach(([low, high], c) => {
          if (low <= share && share <= high) covered += chance;
          chance *= ((n - c) / (c + 1)) * (share / (1 - share));
        });
        expect(covered).toBeGreaterThanOrEqual(0.9 - 1e-12);
      }
    }
  });
});
