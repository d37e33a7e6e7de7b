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
  it.each([
    // scipy.special.comb, exact
    [10, 8, 1, 0.8, 0.8],
    [10, 8, 5, 1, 2 / 9],
    [10, 3, 5, 11 / 12, 0],
    [5, 4, 5, 1, 0],
    [5, 5, 5, 1, 1],
    [200, 17, 100, 0.99999636769084, 0],
    [64, 20, 8, 0.9599579743944171, 2.846030130521775e-5],
  ])("of n=%i, c=%i, k=%i", (n, c, k, at, hat) => {
    expect(passAtK(n, c, k)).toBeCloseTo(at, 12);
    expect(passHatK(n, c, k)).toBeCloseTo(hat, 12);
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

describe("Wilson's interval", () => {
  it.each([
    // scipy 1.16, binomtest(c, n).proportion_ci(method="wilson")
    [10, 8, 0.4901624715366418, 0.9433178485456248],
    [5, 5, 0.5655175352168251, 1],
    [5, 0, 0, 0.43448246478317476],
    [5, 1, 0.036224108632430196, 0.6244653702374747],
    [369, 153, 0.36549879032748783, 0.4655285846879667],
    [100, 37, 0.28182360534324535, 0.4677947041905709],
    [1, 1, 0.20654931437723745, 1],
  ])("of n=%i, c=%i", (n, c, low, high) => {
    const interval = wilson(n, c);
    expect(interval[0]).toBeCloseTo(low, 12);
    expect(interval[1]).toBeCloseTo(high, 12);
  });

  it("is everything where nothing was seen", () => {
    expect(wilson(0, 0)).toEqual([0, 1]);
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
