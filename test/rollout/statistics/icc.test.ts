import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { icc1 } from "../../../src/rollout/statistics/index.js";
import { golden, near, nearInterval } from "./golden.js";
import { shuffled, someTasks } from "./tasks.js";

describe("ICC(1)", () => {
  it.each(golden.icc)("has the F interval that scipy gives: case %#", ({ tasks, confidence, values }) => {
    const [value, low, high] = values;
    const found = icc1(tasks, confidence);
    near(found.value, value, 1e-9);
    nearInterval(found.ci, [low, high], 1e-9);
    expect(found.reason).toBeNull();
  });

  it("is what Shrout and Fleiss published of their six subjects and four judges", () => {
    const ratings = [
      [9, 2, 5, 8],
      [6, 1, 3, 2],
      [8, 4, 6, 8],
      [7, 1, 2, 6],
      [10, 5, 6, 9],
      [6, 2, 4, 7],
    ].map((row) => row.map((rating) => rating / 10));
    expect(icc1(ratings).value?.toFixed(2)).toBe("0.17");
  });

  it("is 1 where replicas never differ, and below 0 where only they do", () => {
    expect(
      icc1([
        [1, 1],
        [0, 0, 0],
      ]),
    ).toMatchObject({ value: 1, ci: [1, 1] });
    // -1 / (n0 - 1)
    expect(
      icc1([
        [1, 0, 1, 0],
        [0, 1, 1, 0],
      ]).value,
    ).toBeCloseTo(-1 / 3, 12);
    expect(
      icc1([
        [0.1, 0.3],
        [0.3, 0.1],
      ]).value,
    ).toBeCloseTo(-1, 12);
  });

  it("lies in its interval, at most 1, and does not care about order", () => {
    fc.assert(
      fc.property(someTasks, fc.nat(), (tasks, order) => {
        const { value, ci, reason } = icc1(tasks);
        const other = icc1(shuffled(tasks, order));
        if (value === null || ci === null) {
          expect(reason).not.toBeNull();
          expect(other.value).toBeNull();
          return;
        }
        expect(value).toBeLessThanOrEqual(1);
        expect(ci[0]).toBeLessThanOrEqual(value + 1e-9);
        expect(ci[1]).toBeGreaterThanOrEqual(value - 1e-9);
        expect(other.value).toBeCloseTo(value, 9);
      }),
    );
  });

  it.each([
    [[], /fewer than two tasks/],
    [[[1, 0, 1]], /fewer than two tasks/],
    [[[1, 0], []], /fewer than two tasks/],
    [[[1], [0], [0.5]], /no task has two/],
    [
      [
        [0.1, 0.1],
        [0.1, 0.1, 0.1],
      ],
      /all graded scores are equal/,
    ],
  ])("of %j is null, and says why", (tasks, why) => {
    expect(icc1(tasks)).toMatchObject({ value: null, ci: null, reason: why });
  });
});
