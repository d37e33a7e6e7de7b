import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Random } from "../../../src/rollout/statistics/index.js";
import { golden } from "./golden.js";

describe("the seeded generator", () => {
  it("draws what its authors' program in C draws", () => {
    const random = new Random([1, 2, 3, 4]);
    expect(Array.from({ length: 10 }, () => random.next())).toEqual([
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
    ]);
  });

  it.each(golden.random)("from seed %i draws what Python's whole numbers say", (seed, draws) => {
    const random = new Random(seed);
    expect(draws.map(() => random.next())).toEqual(draws);
  });

  it("draws numbers below a bound evenly", () => {
    const random = new Random(5);
    const seen = new Array<number>(7).fill(0);
    for (let draw = 0; draw < 70_000; draw += 1) {
      const value = random.below(7);
      seen[value] = (seen[value] ?? 0) + 1;
    }
    // Six standard deviations of a count.
    for (const count of seen) expect(Math.abs(count - 10_000)).toBeLessThan(6 * 93);
  });

  it("draws binomial counts with the chances of the binomial distribution", () => {
    const [tries, share, whole, draws] = [7, 3, 11, 100_000];
    const random = new Random(9);
    const seen = new Array<number>(tries + 1).fill(0);
    for (let draw = 0; draw < draws; draw += 1) {
      const value = random.binomial(tries, share, whole);
      seen[value] = (seen[value] ?? 0) + 1;
    }
    let chance = (1 - share / whole) ** tries;
    seen.forEach((count, successes) => {
      expect(Math.abs(count - draws * chance)).toBeLessThan(6 * Math.sqrt(draws * chance) + 1);
      chance *= ((tries - successes) / (successes + 1)) * (share / (whole - share));
    });
  });

  it("keeps mean and variance of large binomial counts", () => {
    const random = new Random(3);
    const counts = Array.from({ length: 2_000 }, () => random.binomial(100_000, 1, 3));
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
    const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1);
    const expected = (100_000 * 2) / 9;
    expect(Math.abs(mean - 100_000 / 3)).toBeLessThan(6 * Math.sqrt(expected / counts.length));
    expect(variance / expected).toBeGreaterThan(0.8);
    expect(variance / expected).toBeLessThan(1.2);
  });

  it("never leaves the bounds, and knows what is certain", () => {
    const draw = fc.record({
      seed: fc.maxSafeNat(),
      tries: fc.integer({ min: 0, max: 500 }),
      whole: fc.integer({ min: 1, max: 2 ** 30 }),
    });
    fc.assert(
      fc.property(draw, fc.double({ min: 0, max: 1, noNaN: true }), ({ seed, tries, whole }, at) => {
        const random = new Random(seed);
        const count = random.binomial(tries, Math.floor(at * whole), whole);
        expect(count).toBeGreaterThanOrEqual(0);
        expect(count).toBeLessThanOrEqual(tries);
        expect(random.binomial(tries, 0, whole)).toBe(0);
        expect(random.binomial(tries, whole, whole)).toBe(tries);
        const bound = Math.min(whole, 2 ** 21);
        expect(random.below(bound)).toBeLessThan(bound);
      }),
    );
  });

  it("refuses what is no seed", () => {
    for (const seed of [-1, 0.5, 2 ** 53]) expect(() => new Random(seed)).toThrow(RangeError);
  });
});
