import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bootstrapMean } from "../../../src/rollout/statistics/index.js";
import { golden, near } from "./golden.js";
import { shuffled, someTasks } from "./tasks.js";

const few = { resamples: 200 };

describe("the hierarchical bootstrap", () => {
  it.each(golden.bootstrap)(
    "has the ends of the plain two-level bootstrap: case %#",
    ({ tasks, mean: value, ci, sd }) => {
      const found = bootstrapMean(tasks, { seed: 3, resamples: 100_000 });
      near(found.value, value, 1e-12);
      // Both are of 100,000 resamples: an end's own chance error is about 0.01 sd, and passes lie on a lattice.
      expect(Math.abs((found.ci?.[0] ?? 9) - ci[0])).toBeLessThan(0.06 * sd);
      expect(Math.abs((found.ci?.[1] ?? 9) - ci[1])).toBeLessThan(0.06 * sd);
    },
  );

  it("draws every resample of two tasks with the chance that counting gives it", () => {
    const tasks = [
      [0, 1],
      [0, 0.5],
    ];
    const means: number[] = [];
    for (const first of tasks)
      for (const second of tasks)
        for (const a of first)
          for (const b of first)
            for (const c of second) for (const d of second) means.push(((a + b) / 2 + (c + d) / 2) / 2);
    const sorted = means.sort((a, b) => a - b);
    for (const value of new Set(sorted)) {
      // The middle of the value's step: chance does not carry a quantile of 60,000 resamples out of it.
      const middle = (sorted.indexOf(value) + sorted.lastIndexOf(value) + 1) / 2 / sorted.length;
      if (middle === 0.5) continue;
      const { ci } = bootstrapMean(tasks, {
        seed: 1,
        resamples: 60_000,
        confidence: Math.abs(1 - 2 * middle),
      });
      expect(ci?.[middle < 0.5 ? 0 : 1]).toBeCloseTo(value, 10);
    }
  });

  it("gives the same interval for the same seed, always", () => {
    const tasks = [[1, 0, 1], [1, 1, 1], [0, 0.25, 0], [1]];
    expect(bootstrapMean(tasks, { seed: 1 })).toEqual(bootstrapMean(tasks, { seed: 1 }));
    // Committed: another platform or version must come to the same digits.
    expect(bootstrapMean(tasks, { seed: 1 })).toMatchInlineSnapshot(`
      {
        "ci": [
          0.2708333333333333,
          1,
        ],
        "reason": null,
        "value": 0.6875,
      }
    `);
  });

  it("lies in the scores' range and does not care about the order of tasks and replicas", () => {
    fc.assert(
      fc.property(someTasks, fc.nat(), fc.nat(), (tasks, seed, order) => {
        const { value, ci } = bootstrapMean(tasks, { ...few, seed });
        const all = tasks.flat();
        if (all.length < 2) {
          expect(ci).toBeNull();
          return;
        }
        expect(ci?.[0]).toBeGreaterThanOrEqual(Math.min(...all) - 1e-12);
        expect(ci?.[1]).toBeLessThanOrEqual(Math.max(...all) + 1e-12);
        const other = bootstrapMean(shuffled(tasks, order), { ...few, seed });
        expect(other.ci).toEqual(ci);
        expect(other.value).toBeCloseTo(value ?? Number.NaN, 12);
      }),
    );
  });

  it("is wider for more confidence", () => {
    fc.assert(
      fc.property(someTasks, fc.nat(), (tasks, seed) => {
        const [wide, narrow] = [0.99, 0.8].map(
          (confidence) => bootstrapMean(tasks, { ...few, seed, confidence }).ci,
        );
        if (wide == null || narrow == null) return;
        expect(wide[0]).toBeLessThanOrEqual(narrow[0]);
        expect(wide[1]).toBeGreaterThanOrEqual(narrow[1]);
      }),
    );
  });

  it("gives every task the same weight, and leaves out those without a graded replica", () => {
    const found = bootstrapMean([[1, 1, 1, 1], [0], []]);
    expect(found.value).toBe(0.5);
    expect(found).toEqual(bootstrapMean([[0], [1, 1, 1, 1]]));
  });

  it("says what it cannot tell", () => {
    expect(bootstrapMean([])).toEqual({ value: null, ci: null, reason: "no graded replica" });
    expect(bootstrapMean([[], []])).toMatchObject({ value: null, ci: null });
    expect(bootstrapMean([[0.4]])).toMatchObject({ value: 0.4, ci: null, reason: /one graded replica/ });
    expect(bootstrapMean([[1, 1], [1]])).toMatchObject({ value: 1, ci: [1, 1], reason: /no spread/ });
  });

  it("refuses what is no score, and work without end", () => {
    expect(() => bootstrapMean([[1.5]])).toThrow(RangeError);
    expect(() => bootstrapMean([[1, 0]], { resamples: 0 })).toThrow(RangeError);
    const different = Array.from({ length: 300_000 }, (_, index) => index / 300_000);
    expect(() => bootstrapMean([different])).toThrow(
      expect.objectContaining({
        code: "too_large",
        path: "resamples",
        suggestion: expect.stringMatching(/^at most \d+/) as string,
      }) as Error,
    );
  });

  it("takes a million replicas", () => {
    const tasks = [Array.from({ length: 1_000_000 }, (_, index) => (index % 4 === 0 ? 0 : 1))];
    const { value, ci } = bootstrapMean(tasks, { resamples: 500 });
    expect(value).toBe(0.75);
    // The standard error is 0.000433.
    expect(ci?.[0]).toBeGreaterThan(0.7485);
    expect(ci?.[0]).toBeLessThan(0.7498);
    expect(ci?.[1]).toBeGreaterThan(0.7502);
    expect(ci?.[1]).toBeLessThan(0.7515);
  });
});
