import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random, regressionOf } from "../../../src/rollout/statistics/index.js";
import { golden, near } from "./golden.js";
import { someTasks } from "./tasks.js";

const all = (tasks: number, replicas: number, score: number): number[][] =>
  Array.from({ length: tasks }, () => new Array<number>(replicas).fill(score));

describe("the regression test", () => {
  it.each(golden.regression)(
    "comes to the p of counting all relabellings: case %#",
    ({ first, second, difference, p }) => {
      const found = regressionOf(first, second, { seed: 1, resamples: 40_000 });
      if (difference === 0) expect(found.difference).toBeCloseTo(0, 12);
      else near(found.difference, difference, 1e-9);
      // Six standard deviations of a share of 40,000.
      expect(Math.abs((found.p ?? 9) - p)).toBeLessThan(6 * Math.sqrt((p * (1 - p)) / 40_000) + 1e-4);
    },
  );

  it("sees one task of twenty that always passed and never does now", () => {
    const now = all(20, 5, 1);
    now[7] = [0, 0, 0, 0, 0];
    // One of C(10, 5) labellings.
    expect(regressionOf(all(20, 5, 1), now)).toMatchObject({
      significant: true,
      difference: -0.05,
      tasks: 20,
    });
    expect(regressionOf(all(20, 5, 1), now).p).toBeCloseTo(1 / 252, 2);
    expect(regressionOf(all(20, 5, 1), now, { margin: 0.1 }).significant).toBe(false);
    expect(regressionOf(now, all(20, 5, 1)).significant).toBe(false);
  });

  it("never calls what so few replicas show by chance", () => {
    expect(regressionOf([[1]], [[0]])).toMatchObject({ significant: false, difference: -1 });
    expect(regressionOf([[1, 1]], [[0, 0]]).significant).toBe(false);
  });

  it("calls equal runs a regression as rarely as it says", () => {
    const world = new Random(11);
    const chances = [1, 2, 5, 8, 9, 9];
    const run = () => chances.map((chance) => Array.from({ length: 4 }, () => world.binomial(1, chance, 10)));
    const comparisons = 2_000;
    let called = 0;
    for (let index = 0; index < comparisons; index += 1)
      if (regressionOf(run(), run(), { seed: index, resamples: 199 }).significant) called += 1;
    // 5 %, and four standard deviations of its count.
    expect(called / comparisons).toBeLessThan(0.05 + 4 * Math.sqrt((0.05 * 0.95) / comparisons));
    expect(called).toBeGreaterThan(0);
  });

  it("finds a real drop", () => {
    const world = new Random(12);
    const run = (chance: number) =>
      Array.from({ length: 30 }, () => Array.from({ length: 5 }, () => world.binomial(1, chance, 10)));
    expect(regressionOf(run(8), run(5)).significant).toBe(true);
  });

  it("gives a p in (0, 1], the same for the same seed and for tasks in another order", () => {
    fc.assert(
      fc.property(someTasks, fc.nat(), (tasks, seed) => {
        const other = tasks.map((scores) => [...scores].reverse().map((score) => score / 2));
        const found = regressionOf(tasks, other, { seed, resamples: 99 });
        if (found.p === null) {
          expect(found).toMatchObject({ significant: false, tasks: 0, difference: null });
          return;
        }
        expect(found.p).toBeGreaterThan(0);
        expect(found.p).toBeLessThanOrEqual(1);
        expect(regressionOf([...tasks].reverse(), [...other].reverse(), { seed, resamples: 99 }).p).toBe(
          found.p,
        );
      }),
    );
  });

  it("is valid with fewer relabellings where the runs are large, and says how many", () => {
    const many = (offset: number) => [
      Array.from({ length: 400_000 }, (_, index) => ((index + offset) % 2 === 0 ? 1 : 0)),
    ];
    const found = regressionOf(many(0), many(1), { resamples: 99 });
    expect(found.resamples).toBe(99);
    expect(found.significant).toBe(false);
  });
});
