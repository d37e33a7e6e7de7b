import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type DrawnGroup,
  GroupScheduler,
  replicaSeed,
  type SchedulerSpec,
} from "../../../src/rollout/pull/index.js";

const base: SchedulerSpec = {
  tasks: ["a", "b", "c"],
  seed: 1,
  seeds: [],
  weights: {},
  priorities: {},
  quotas: {},
  groups: null,
};

function drawn(scheduler: GroupScheduler, count: number): DrawnGroup[] {
  return Array.from({ length: count }, () => scheduler.next()).filter((group) => group !== null);
}

const seed = fc.integer({ min: 0, max: 2 ** 48 });
const tasks = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 });

describe("the scheduler", () => {
  it("draws the same groups from the same seed, and others from another", () => {
    fc.assert(
      fc.property(seed, tasks, (one, names) => {
        const draw = (from: number) => drawn(new GroupScheduler({ ...base, seed: from, tasks: names }), 40);
        expect(draw(one)).toEqual(draw(one));
        expect(draw(one).map(({ seed: of }) => of)).not.toEqual(draw(one + 1).map(({ seed: of }) => of));
      }),
      { numRuns: 30 },
    );
  });

  it("draws tasks in the shares of their weights", () => {
    const weight = fc.integer({ min: 0, max: 9 });
    fc.assert(
      fc.property(seed, fc.array(weight, { minLength: 3, maxLength: 3 }), (from, [a = 0, b = 0, c = 0]) => {
        const total = a + b + c;
        fc.pre(total > 0);
        const scheduler = new GroupScheduler({ ...base, seed: from, weights: { a, b, c } });
        const draws = 2_000;
        drawn(scheduler, draws);
        for (const [task, share] of Object.entries({ a, b, c })) {
          const expected = share / total;
          // Six standard deviations of a binomial count: not by chance.
          const margin = 6 * Math.sqrt((expected * (1 - expected)) / draws);
          expect(Math.abs(scheduler.drawn(task) / draws - expected)).toBeLessThanOrEqual(margin);
        }
      }),
      { numRuns: 25 },
    );
  });

  it("draws from a lower priority only what the higher ones have no more of", () => {
    fc.assert(
      fc.property(
        seed,
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 3 }),
        fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 3, maxLength: 3 }),
        (from, [pa = 0, pb = 0, pc = 0], [qa = 0, qb = 0, qc = 0]) => {
          const priorities = { a: pa, b: pb, c: pc };
          const quotas = { a: qa, b: qb, c: qc };
          const scheduler = new GroupScheduler({ ...base, seed: from, priorities, quotas });
          const order = drawn(scheduler, 100);
          expect(order).toHaveLength(qa + qb + qc);
          const levels = order.map(({ priority }) => priority);
          expect(levels).toEqual([...levels].sort((x, y) => y - x));
          expect(scheduler.exhausted).toBe(true);
        },
      ),
    );
  });

  it("gives the n-th group of a task the same seed whatever else is drawn", () => {
    const seedsOf = (weights: Record<string, number>) =>
      drawn(new GroupScheduler({ ...base, weights }), 200)
        .filter(({ task }) => task === "a")
        .slice(0, 10)
        .map(({ seed: of }) => of);
    expect(seedsOf({ b: 5 })).toEqual(seedsOf({ c: 0 }));
    expect(new Set(seedsOf({})).size).toBe(10);
  });

  it("goes through given seeds, for each task from the first one on, again and again", () => {
    const scheduler = new GroupScheduler({ ...base, tasks: ["a"], seeds: [11, 12, 13] });
    expect(drawn(scheduler, 7).map(({ seed: of }) => of)).toEqual([11, 12, 13, 11, 12, 13, 11]);
  });

  it("follows weights that change, from the next draw on", () => {
    const scheduler = new GroupScheduler(base);
    drawn(scheduler, 50);
    scheduler.setWeights({ a: 0, b: 0 });
    expect(new Set(drawn(scheduler, 50).map(({ task }) => task))).toEqual(new Set(["c"]));
    scheduler.setWeights({ c: 0 });
    expect(scheduler.next()).toBeNull();
    expect(scheduler.exhausted).toBe(false);
    scheduler.setWeights({ a: 1 });
    expect(scheduler.next()?.task).toBe("a");
  });

  it("takes no weights of a task that it does not have, and then none at all", () => {
    const scheduler = new GroupScheduler(base);
    expect(() => scheduler.setWeights({ a: 0, d: 2 })).toThrow("the rollout has no task 'd'");
    expect(scheduler.weight("a")).toBe(1);
  });

  it("stops after as many groups as were wanted", () => {
    const scheduler = new GroupScheduler({ ...base, groups: 5 });
    expect(drawn(scheduler, 9).map(({ id }) => id)).toEqual(["g1", "g2", "g3", "g4", "g5"]);
    expect(scheduler.exhausted).toBe(true);
  });

  it("gives each replica of a group a machine seed of its own", () => {
    fc.assert(
      fc.property(seed, (group) => {
        const seeds = Array.from({ length: 256 }, (_, replica) => replicaSeed(group, replica));
        expect(new Set(seeds).size).toBe(256);
      }),
      { numRuns: 20 },
    );
  });
});
