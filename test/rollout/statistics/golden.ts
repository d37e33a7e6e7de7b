/** What scipy and numpy say (golden/make.py), and how near to it we have to be. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Interval, Plan } from "../../../src/rollout/statistics/index.js";

type Scores = number[][];

interface Golden {
  pass: [n: number, c: number, k: number, at: number, hat: number][];
  share: [n: number, c: number, confidence: number, wilson: Interval, exact: Interval][];
  quantile: {
    normal: [p: number, z: number][];
    t: [p: number, df: number, t: number][];
    f: [p: number, d1: number, d2: number, f: number][];
    beta: [p: number, a: number, b: number, x: number][];
  };
  icc: { tasks: Scores; confidence: number; values: [number, number, number] }[];
  bootstrap: { tasks: Scores; mean: number; ci: Interval; sd: number }[];
  paired: { first: Scores; second: Scores; difference: number; ci: Interval; p: number }[];
  regression: { first: Scores; second: Scores; difference: number; p: number }[];
  sequence: [n: number, sum: number, confidence: number, ci: Interval][];
  planning: { plan: Plan; difference: number; power_reached: number }[];
  random: [seed: number, draws: number[]][];
}

export const golden = JSON.parse(
  readFileSync(new URL("golden/golden.json", import.meta.url), "utf8"),
) as Golden;

/** Expects a relative error of at most this. */
export function near(actual: number | null | undefined, expected: number, relative = 1e-10): void {
  const error = Math.abs((actual ?? Number.NaN) - expected);
  if (!(error <= relative * Math.abs(expected) || error <= 1e-300))
    expect.fail(`${actual} is not within ${relative} of ${expected}`);
}

/** Expects both ends near. */
export function nearInterval(
  actual: Interval | null | undefined,
  expected: Interval,
  relative = 1e-10,
): void {
  near(actual?.[0], expected[0], relative);
  near(actual?.[1], expected[1], relative);
}
