import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { minimumDetectable, pairedDifference, Random } from "../../../src/rollout/statistics/index.js";
import { golden, near } from "./golden.js";

describe("the minimum detectable difference", () => {
  it.each(golden.planning)(
    "is the formula's by scipy's t: case %#",
    ({ plan, difference, power_reached }) => {
      near(minimumDetectable(plan), difference, 1e-10);
      // By the noncentral t the formula is near what it promises; furthest off with few tasks and much confidence.
      expect(Math.abs(power_reached - (plan.power ?? 0.8))).toBeLessThan(0.03);
    },
  );

  it("shrinks with tasks, replicas and pairing, and grows with power and confidence", () => {
    const plans = fc.record({
      tasks: fc.integer({ min: 2, max: 500 }),
      replicas: fc.integer({ min: 1, max: 50 }),
      icc: fc.double({ min: 0, max: 0.99, noNaN: true }),
      pairing: fc.double({ min: 0, max: 0.9, noNaN: true }),
    });
    fc.assert(
      fc.property(plans, (plan) => {
        const found = minimumDetectable(plan);
        expect(found).toBeGreaterThan(0);
        expect(minimumDetectable({ ...plan, tasks: plan.tasks * 2 })).toBeLessThan(found);
        expect(minimumDetectable({ ...plan, replicas: plan.replicas + 1 })).toBeLessThan(found);
        expect(minimumDetectable({ ...plan, pairing: 1 })).toBeLessThanOrEqual(found);
        expect(minimumDetectable({ ...plan, power: 0.9 })).toBeGreaterThan(found);
        expect(minimumDetectable({ ...plan, confidence: 0.99 })).toBeGreaterThan(found);
      }),
    );
  });

  it("does not come below what the tasks leave, however many replicas", () => {
    const plan = { tasks: 100, icc: 0.5 };
    const floor = minimumDetectable({ ...plan, replicas: 1_000_000 });
    expect(floor).toBeGreaterThan(0.9 * minimumDetectable({ ...plan, replicas: 10 }));
  });

  it("is found by the paired test about as often as promised, in simulated runs", () => {
    // Twenty tasks of even chance that all drop by the same, so that pairing is 1 and icc 0.
    const [tasks, replicas, chance] = [20, 10, 60];
    const sd = Math.sqrt(0.6 * 0.4);
    const drop = minimumDetectable({ tasks, replicas, icc: 0, sd });
    const world = new Random(21);
    const run = (percent: number) =>
      Array.from({ length: tasks }, () =>
        Array.from({ length: replicas }, () => world.binomial(1, Math.round(percent * 1_000), 100_000)),
      );
    const comparisons = 600;
    let found = 0;
    for (let index = 0; index < comparisons; index += 1) {
      const { t } = pairedDifference(run(chance), run(chance - 100 * drop), { resamples: 1 });
      if (t !== null && t.p <= 0.05) found += 1;
    }
    expect(Math.abs(found / comparisons - 0.8)).toBeLessThan(4 * Math.sqrt((0.8 * 0.2) / comparisons) + 0.01);
  });

  it("refuses plans that cannot be", () => {
    const plan = { tasks: 10, replicas: 5, icc: 0.5 };
    for (const wrong of [
      { tasks: 1 },
      { replicas: 0 },
      { icc: 1.1 },
      { pairing: -1 },
      { power: 1 },
      { sd: -1 },
    ])
      expect(() => minimumDetectable({ ...plan, ...wrong })).toThrow(RangeError);
  });
});
