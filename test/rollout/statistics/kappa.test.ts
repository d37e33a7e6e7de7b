import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cohenKappa } from "../../../src/rollout/statistics/index.js";

const counts = fc.integer({ min: 2, max: 4 }).chain((size) =>
  fc.array(fc.array(fc.integer({ min: 0, max: 60 }), { minLength: size, maxLength: size }), {
    minLength: size,
    maxLength: size,
  }),
);
const transposed = (table: number[][]): number[][] =>
  table.map((_, column) => table.map((row) => row[column] ?? 0));
const total = (table: number[][]): number => table.flat().reduce((sum, count) => sum + count, 0);

describe("Cohen's kappa", () => {
  it.each([
    // scikit-learn 1.9.1, cohen_kappa_score; statsmodels 0.15.0, cohens_kappa().std_kappa
    [
      [
        [20, 5],
        [10, 15],
      ],
      0.4,
      0.12699606293110033,
    ],
    [
      [
        [45, 15],
        [25, 15],
      ],
      0.13043478260869568,
      0.0986615376234396,
    ],
    [
      [
        [25, 35],
        [5, 35],
      ],
      0.2592592592592593,
      0.07715973174444572,
    ],
    [
      [
        [40, 9],
        [6, 45],
      ],
      0.6995192307692308,
      0.07139360269998822,
    ],
    [
      [
        [0, 5],
        [7, 0],
      ],
      -0.945945945945946,
      0.17963975046240388,
    ],
    [
      [
        [50, 0],
        [0, 12],
      ],
      1,
      0,
    ],
    [
      [
        [118, 5],
        [2, 0],
      ],
      -0.023391812865497075,
      0.012286756672845256,
    ],
    [
      [
        [44, 5, 1],
        [7, 20, 3],
        [9, 5, 6],
      ],
      0.4915254237288136,
      0.07212745929334068,
    ],
  ])("of %j", (table, kappa, se) => {
    const found = cohenKappa(table);
    expect(found.kappa).toBeCloseTo(kappa, 12);
    // statsmodels subtracts nearly equal numbers where the error is small.
    expect(found.se).toBeCloseTo(se, 8);
    expect(found.ci?.[0]).toBeCloseTo(Math.max(-1, kappa - 1.959963984540054 * se), 8);
    expect(found.ci?.[1]).toBeCloseTo(Math.min(1, kappa + 1.959963984540054 * se), 8);
  });

  it("is what Cohen (1960) published of two clinicians", () => {
    const found = cohenKappa([
      [88, 14, 18],
      [10, 40, 10],
      [2, 6, 12],
    ]);
    expect(found.kappa?.toFixed(2)).toBe("0.49");
  });

  it("is what Agresti published of two pathologists, with its standard error", () => {
    const found = cohenKappa([
      [22, 2, 2, 0],
      [5, 7, 14, 0],
      [0, 2, 36, 0],
      [0, 1, 17, 10],
    ]);
    expect(found.kappa?.toFixed(3)).toBe("0.493");
    expect(found.se?.toFixed(3)).toBe("0.057");
  });

  it("lies between -1 and 1, inside its interval, and does not care who is who", () => {
    fc.assert(
      fc.property(counts, (table) => {
        const { kappa, se, ci } = cohenKappa(table);
        const other = cohenKappa(transposed(table));
        if (kappa === null || se === null || ci === null) {
          expect(other.kappa).toBeNull();
          return;
        }
        expect(Math.abs(kappa)).toBeLessThanOrEqual(1 + 1e-12);
        expect(kappa).toBeGreaterThanOrEqual(ci[0] - 1e-12);
        expect(kappa).toBeLessThanOrEqual(ci[1] + 1e-12);
        expect(other.kappa).toBeCloseTo(kappa, 10);
        expect(other.se).toBeCloseTo(se, 6);
      }),
    );
  });

  it("is 1 exactly where both always agree, in more than one category", () => {
    fc.assert(
      fc.property(counts, (table) => {
        fc.pre(total(table) > 0);
        const { kappa } = cohenKappa(table);
        if (kappa === null) return;
        const agree = table.every((row, i) => row.every((count, j) => i === j || count === 0));
        expect(Math.abs(kappa - 1) < 1e-12).toBe(agree);
      }),
    );
  });

  it("says nothing where chance alone agrees always, or where there is nothing", () => {
    const nothing = { kappa: null, se: null, ci: null };
    expect(
      cohenKappa([
        [9, 0],
        [0, 0],
      ]),
    ).toEqual(nothing);
    expect(
      cohenKappa([
        [0, 0],
        [0, 0],
      ]),
    ).toEqual(nothing);
  });

  it("refuses what is no table of counts", () => {
    expect(() => cohenKappa([[1, 2]])).toThrow(RangeError);
    expect(() =>
      cohenKappa([
        [1, 2],
        [0.5, 1],
      ]),
    ).toThrow(RangeError);
    expect(() =>
      cohenKappa([
        [1, -2],
        [0, 1],
      ]),
    ).toThrow(RangeError);
  });
});
