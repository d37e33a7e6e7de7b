import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bootstrapMean, pairedDifference } from "../../../src/rollout/statistics/index.js";
import { golden, near, nearInterval } from "./golden.js";
import { someTasks } from "./tasks.js";

describe("the paired difference of two runs", () => {
  it.each(golden.paired)("has scipy's t interval and p: case %#", ({ first, second, difference, ci, p }) => {
    const found = pairedDifference(first, second, { resamples: 100 });
    near(found.difference, difference, 1e-9);
    nearInterval(found.t?.ci, ci, 1e-9);
    near(found.t?.p, p, 1e-8);
  });

  it("turns its sign with the runs", () => {
    fc.assert(
      fc.property(someTasks, fc.nat(), (tasks, seed) => {
        const other = tasks.map((scores) => scores.map((score) => 1 - score).slice(1));
        const one = pairedDifference(tasks, other, { seed, resamples: 100 });
        const back = pairedDifference(other, tasks, { seed, resamples: 100 });
        expect(one.tasks).toBe(back.tasks);
        if (one.difference === null || back.difference === null) return;
        expect(one.difference).toBeCloseTo(-back.difference, 12);
        if (one.t === null || back.t === null) return;
        expect(one.t.ci[0]).toBeCloseTo(-back.t.ci[1], 9);
        expect(one.t.p).toBeCloseTo(back.t.p, 9);
      }),
    );
  });

  it("keeps what makes tasks hard out of its spread", () => {
    const easyAndHard = Array.from({ length: 20 }, (_, task) => new Array<number>(10).fill(task / 40));
    const better = easyAndHard.map((scores, task) => scores.map((score) => score + 0.1 + (task % 2) / 100));
    const { t, bootstrap } = pairedDifference(easyAndHard, better, { seed: 1 });
    expect(t?.ci[0]).toBeGreaterThan(0.1);
    expect(t?.ci[1]).toBeLessThan(0.11);
    expect(bootstrap?.[0]).toBeGreaterThan(0.1);
    expect(bootstrap?.[1]).toBeLessThan(0.11);
    // The runs alone cannot be told apart.
    const [alone, other] = [
      bootstrapMean(easyAndHard, { seed: 1 }).ci,
      bootstrapMean(better, { seed: 1 }).ci,
    ];
    expect(alone?.[1]).toBeGreaterThan(other?.[0] ?? 9);
  });

  it("resamples each run's replicas, too: of one task the interval is theirs", () => {
    const found = pairedDifference([[0, 1, 0, 1]], [[1, 1, 0, 1]], { seed: 2 });
    expect(found).toMatchObject({ difference: 0.25, t: null, reason: /one task alone/ });
    expect(found.bootstrap?.[0]).toBeLessThan(0);
    expect(found.bootstrap?.[1]).toBeGreaterThan(0.5);
  });

  it("counts tasks that lack a graded replica in a run beside", () => {
    const found = pairedDifference([[1], [], [0], [1]], [[0], [1], [], [1]], { resamples: 100 });
    expect(found).toMatchObject({ tasks: 2, leftOut: 2, difference: -0.5 });
    expect(pairedDifference([[]], [[1]])).toMatchObject({
      tasks: 0,
      difference: null,
      t: null,
      bootstrap: null,
    });
  });

  it("says where there is no spread to judge by", () => {
    const found = pairedDifference([[1], [1], [1]], [[0], [0], [0]]);
    expect(found).toMatchObject({ difference: -1, t: null, reason: /same for every task/ });
  });

  it("refuses runs of unequal tasks", () => {
    expect(() => pairedDifference([[1]], [[1], [0]])).toThrow(RangeError);
  });
});
