import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  mean,
  passAtK,
  passHatK,
  passHatKInterval,
  quantile,
  wilson,
} from "../../../src/rollout/statistics/index.js";
import { golden, near } from "./golden.js";

/** All subsets of k of the first n numbers. */
function* subsets(n: number, k: number, from = 0): Generator<number[]> {
  if (k === 0) {
    yield [];
    return;
  }
  for (let first = from; first <= n - k; first += 1) {
    for (const rest of subsets(n, k - 1, first + 1)) yield [first, ...rest];
  }
}

describe("pass@k and pass^k", () => {
  it.each(golden.pass)("of n=%i, c=%i, k=%i are scipy's", (n, c, k, at, hat) => {
    near(passAtK(n, c, k), at, 1e-12);
    near(passHatK(n, c, k), hat, 1e-12);
  });

  it("are the shares of subsets of k replicas in which one passes, and in which all do", () => {
    const counts = fc.integer({ min: 1, max: 9 }).chain((n) =>
      fc.record({
        n: fc.constant(n),
        c: fc.integer({ min: 0, max: n }),
        k: fc.integer({ min: 1, max: n }),
      }),
    );
    fc.assert(
      fc.property(counts, ({ n, c, k }) => {
        const all = [...subsets(n, k)];
        const share = (holds: (subset: number[]) => boolean) => all.filter(holds).length / all.length;
        expect(passAtK(n, c, k)).toBeCloseTo(
          share((subset) => subset.some((one) => one < c)),
          12,
        );
        expect(passHatK(n, c, k)).toBeCloseTo(
          share((subset) => subset.every((one) => one < c)),
          12,
        );
      }),
    );
  });

  it("say nothing about more tries than there were replicas", () => {
    expect(passAtK(4, 4, 5)).toBeNull();
    expect(passHatK(0, 0, 1)).toBeNull();
  });

  it("refuse counts that cannot be", () => {
    expect(() => passAtK(3, 4, 1)).toThrow(RangeError);
    expect(() => passHatK(3, 1.5, 1)).toThrow(RangeError);
    expect(() => passHatK(3, 1, 0)).toThrow(RangeError);
  });
});

describe("the interval of pass^k", () => {
  it("is Wilson's to the k-th power", () => {
    const [low, high] = passHatKInterval(5, 5, 5);
    expect(low).toBeCloseTo(0.05784, 5);
    expect(high).toBe(1);
    expect(passHatKInterval(10, 8, 1)).toEqual(wilson(10, 8));
  });

  it("holds the share to the k-th power between its ends", () => {
    for (let c = 0; c <= 12; c += 1) {
      const [low, high] = passHatKInterval(12, c, 3);
      expect(low).toBeLessThanOrEqual((c / 12) ** 3);
      expect(high).toBeGreaterThanOrEqual((c / 12) ** 3);
    }
  });
});

describe("quantiles and means", () => {
  it("interpolate as numpy does", () => {
    const values = [3, 1, 4, 1, 5, 9, 2, 6];
    const expected = [1, 1.75, 3.5, 6.9, 8.79, 9];
    [0, 0.25, 0.5, 0.9, 0.99, 1].forEach((share, index) => {
      expect(quantile(values, share)).toBeCloseTo(expected[index] ?? Number.NaN, 12);
    });
  });

  it("of nothing are null, not zero", () => {
    expect(quantile([], 0.5)).toBeNull();
    expect(mean([])).toBeNull();
  });
});
