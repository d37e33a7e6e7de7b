import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Demand } from "../../../src/rollout/pull/index.js";

/** Pulls come evenly; `ready` says whether something was there for them. */
function pullEvenly(demand: Demand, everyMs: number, forMs: number, ready = true): number {
  let now = 0;
  for (; now < forMs; now += everyMs) demand.pulled(now, ready);
  return now;
}

describe("what a pool keeps ready", () => {
  it("is never outside its bounds", () => {
    const times = fc.array(fc.tuple(fc.nat(5_000), fc.boolean(), fc.nat(60_000)), { maxLength: 60 });
    fc.assert(
      fc.property(fc.nat(8), fc.nat(64), times, (min, more, pulls) => {
        const demand = new Demand({ min, max: min + more });
        let now = 0;
        for (const [wait, ready, ms] of pulls) {
          now += wait;
          demand.pulled(now, ready);
          demand.prepared(ms);
          const target = demand.target(now);
          expect(target).toBeGreaterThanOrEqual(min);
          expect(target).toBeLessThanOrEqual(min + more);
        }
      }),
    );
  });

  it("is the rate of pulls times the time of a preparation, and two standard deviations more", () => {
    const demand = new Demand({ min: 0, max: 1_000 });
    demand.prepared(500);
    const now = pullEvenly(demand, 10, 120_000);
    expect(demand.rate(now)).toBeGreaterThan(95);
    expect(demand.rate(now)).toBeLessThan(105);
    // 100 pulls a second, half a second each: 50, and 2 times the root of 50.
    expect(demand.target(now)).toBeGreaterThanOrEqual(62);
    expect(demand.target(now)).toBeLessThanOrEqual(67);
  });

  it("grows with the rate and with the time of a preparation", () => {
    const targetOf = (everyMs: number, prepareMs: number) => {
      const demand = new Demand({ min: 0, max: 10_000 });
      demand.prepared(prepareMs);
      return demand.target(pullEvenly(demand, everyMs, 60_000));
    };
    expect(targetOf(10, 1_000)).toBeGreaterThan(targetOf(100, 1_000));
    expect(targetOf(10, 1_000)).toBeGreaterThan(targetOf(10, 100));
  });

  it("grows by one with each pull that found nothing", () => {
    const demand = new Demand({ min: 0, max: 8 });
    expect(demand.target(0)).toBe(0);
    for (let pull = 1; pull <= 12; pull++) {
      demand.pulled(0, false);
      expect(demand.target(0)).toBe(Math.min(pull, 8));
    }
  });

  it("fades to the least when nobody pulls any more", () => {
    const demand = new Demand({ min: 1, max: 500 });
    demand.prepared(2_000);
    const now = pullEvenly(demand, 10, 30_000, false);
    expect(demand.target(now)).toBeGreaterThan(100);
    expect(demand.target(now + 5 * 60_000)).toBe(1);
  });
});
