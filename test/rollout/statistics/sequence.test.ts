import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  confidenceSequence,
  type Interval,
  narrowEnough,
  Random,
  replicasUntilNarrow,
  wilson,
} from "../../../src/rollout/statistics/index.js";
import { golden, near } from "./golden.js";

const width = ([low, high]: Interval): number => high - low;
const holds = ([low, high]: Interval, value: number): boolean => low <= value && value <= high;

describe("the confidence sequence", () => {
  it.each(golden.sequence)(
    "of n=%f, sum=%f at %f is where scipy's density meets alpha",
    (n, sum, level, ci) => {
      const found = confidenceSequence(n, sum, level);
      near(found[0], ci[0], 1e-9);
      near(found[1], ci[1], 1e-9);
    },
  );

  it("lies in [0, 1], holds the mean, mirrors, and is wider than an interval for one look", () => {
    const counts = fc
      .integer({ min: 1, max: 2_000 })
      .chain((n) => fc.record({ n: fc.constant(n), c: fc.integer({ min: 0, max: n }) }));
    fc.assert(
      fc.property(counts, ({ n, c }) => {
        const ci = confidenceSequence(n, c);
        expect(ci[0]).toBeGreaterThanOrEqual(0);
        expect(ci[1]).toBeLessThanOrEqual(1);
        expect(holds(ci, c / n)).toBe(true);
        const mirrored = confidenceSequence(n, n - c);
        expect(ci[0]).toBeCloseTo(1 - mirrored[1], 9);
        expect(width(ci)).toBeGreaterThan(width(wilson(n, c)));
        expect(width(confidenceSequence(n, c, 0.99))).toBeGreaterThan(width(ci));
      }),
    );
  });

  it("is everything where nothing was seen", () => {
    expect(confidenceSequence(0, 0)).toEqual([0, 1]);
  });
});

/** The share of simulated tasks in which the interval loses the true chance at some look, or at the look that stops. */
function losses(interval: (n: number, passed: number) => Interval, percent: number, stopAt?: number): number {
  const [tasks, most] = [1_500, 300];
  const world = new Random(percent);
  let lost = 0;
  for (let task = 0; task < tasks; task += 1) {
    let passed = 0;
    for (let n = 1; n <= most; n += 1) {
      passed += world.binomial(1, percent, 100);
      const ci = interval(n, passed);
      const stops = stopAt === undefined ? false : width(ci) <= stopAt;
      const wrong = !holds(ci, percent / 100);
      if (wrong && (stopAt === undefined || stops || n === most)) {
        lost += 1;
        break;
      }
      if (stops) break;
    }
  }
  return lost / tasks;
}

describe("looking after every replica", () => {
  const remembered = (interval: (n: number, passed: number) => Interval) => {
    const known = new Map<number, Interval>();
    return (n: number, passed: number): Interval => {
      const key = n * 1_000 + passed;
      const found = known.get(key) ?? interval(n, passed);
      known.set(key, found);
      return found;
    };
  };
  const sequence = remembered((n, passed) => confidenceSequence(n, passed));
  const single = remembered((n, passed) => wilson(n, passed));
  // 5 %, and four standard deviations of a share of 1,500.
  const allowed = 0.05 + 4 * Math.sqrt((0.05 * 0.95) / 1_500);

  it.each([5, 20, 50, 90])("loses a true chance of %i % in at most 5 % of tasks at any look", (percent) => {
    expect(losses(sequence, percent)).toBeLessThan(allowed);
  });

  it.each([5, 20, 50, 90])(
    "and in at most 5 % of tasks where it stops as soon as it is narrow: %i %",
    (percent) => {
      expect(losses(sequence, percent, 0.3)).toBeLessThan(allowed);
    },
  );

  it("loses it far more often with Wilson's interval, which is meant for one look", () => {
    expect(losses(single, 50)).toBeGreaterThan(0.2);
    expect(losses(single, 20)).toBeGreaterThan(0.2);
  });

  it("holds for scores between 0 and 1 as well", () => {
    const world = new Random(77);
    let lost = 0;
    for (let task = 0; task < 500; task += 1) {
      let sum = 0;
      for (let n = 1; n <= 200; n += 1) {
        // 0, 0.5 or 1: a mean of 0.7.
        sum += (world.binomial(1, 6, 10) + world.binomial(1, 8, 10)) / 2;
        if (!holds(confidenceSequence(n, sum), 0.7)) {
          lost += 1;
          break;
        }
      }
    }
    expect(lost / 500).toBeLessThan(allowed);
  });
});

describe("stopping when the interval is narrow enough", () => {
  it("goes on while it is wide, and stops when it is not", () => {
    expect(narrowEnough(0, 0, { width: 0.9 })).toEqual({ enough: false, ci: [0, 1] });
    expect(narrowEnough(5, 3, { width: 0.3 }).enough).toBe(false);
    expect(narrowEnough(500, 300, { width: 0.3 }).enough).toBe(true);
  });

  it.each([0.1, 0.2, 0.4])("foretells how many replicas a width of %f takes", (wanted) => {
    for (const share of [0, 0.3, 0.5, 1]) {
      const n = replicasUntilNarrow({ width: wanted }, share) ?? 0;
      expect(narrowEnough(n, n * share, { width: wanted }).enough).toBe(true);
      expect(narrowEnough(n - 1, (n - 1) * share, { width: wanted }).enough).toBe(false);
    }
    const half = replicasUntilNarrow({ width: wanted }) ?? 0;
    expect(half).toBeGreaterThan(replicasUntilNarrow({ width: wanted }, 0.9) ?? 0);
  });

  it("does not foretell more than a million", () => {
    expect(replicasUntilNarrow({ width: 0.0001 })).toBeNull();
  });

  it("refuses a width that is none", () => {
    for (const wrong of [0, -1, 1.5, Number.NaN])
      expect(() => narrowEnough(5, 3, { width: wrong })).toThrow(RangeError);
    expect(() => narrowEnough(5, 6, { width: 0.1 })).toThrow(RangeError);
  });
});
