import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  behaviourOf,
  blindPursuitOf,
  dollarsOf,
  efficiencyOf,
  latencyOf,
  loadPrices,
  renderEfficiency,
  spendingOf,
  type StepTrace,
} from "../../../src/rollout/efficiency/index.js";
import { episode, time } from "./cost.js";

describe("latency by the step's index", () => {
  const slowing = Array.from({ length: 12 }, (_, index) =>
    time({ model: 1_000 + 100 * index, guest: 50, harness: 5, judge: index === 0 ? null : 10 }),
  );
  const found = latencyOf([episode({ task: "a", times: slowing, resetMs: 4, gradeMs: 30 })]);

  it("is told in ranges, split by who took the time", () => {
    expect(found.by_step.map(({ from, to, steps }) => [from, to, steps])).toEqual([
      [1, 1, 1],
      [2, 2, 1],
      [3, 5, 3],
      [6, 10, 5],
      [11, 20, 2],
    ]);
    expect(found.by_step[0]).toMatchObject({
      p50_ms: { model: 1_000, guest: 50, harness: 5, judge: null, unsplit: null },
      total_p50_ms: 1_055,
    });
    expect(found.by_step[2]).toMatchObject({ p50_ms: { model: 1_300, judge: 10 }, total_p50_ms: 1_365 });
    expect(found.late_over_early).toBeCloseTo((2_050 + 65) / 1_055, 12);
    expect(found).toMatchObject({ reset_p50_ms: 4, grade_p50_ms: 30 });
  });

  it("has shares of the whole that add up to 1, and none of what nobody told", () => {
    const shares = found.share ?? expect.fail("no shares");
    const told = Object.values(shares).filter((value) => value !== null);
    expect(told.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
    expect(shares.unsplit).toBeNull();
    expect(shares.model).toBeGreaterThan(0.9);
  });

  it("has a last range without an end, and says nothing of nothing", () => {
    const long = Array.from({ length: 250 }, () => time({ unsplit: 1 }));
    expect(latencyOf([episode({ task: "a", times: long })]).by_step.at(-1)).toMatchObject({
      from: 101,
      to: null,
      steps: 150,
    });
    expect(latencyOf([])).toEqual({
      by_step: [],
      share: null,
      late_over_early: null,
      reset_p50_ms: null,
      grade_p50_ms: null,
    });
  });
});

describe("tokens and dollars", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "shinken-prices-"));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const table = { as_of: "2026-01-01", models: { m: { in: 2, out: 8 } } };

  it("come with a table that has its date, and know a model by its name less a date of release", async () => {
    const prices = await loadPrices();
    expect(prices.as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(dollarsOf(table, "m", 500_000, 250_000)).toBe(3);
    expect(dollarsOf(table, "m-2025-04-14", 0, 1_000_000)).toBe(8);
    expect(dollarsOf(table, "m-20250414", 1_000_000, 0)).toBe(2);
    expect(dollarsOf(table, "m-mini", 1, 1)).toBeNull();
    expect(dollarsOf(table, "toString", 1, 1)).toBeNull();
  });

  it("are of all episodes that were paid for, ungraded ones too", () => {
    const paid = { model: "m", tokensIn: 1_000_000, tokensOut: 0 };
    const found = spendingOf(
      [
        episode({ task: "a", ...paid }),
        episode({ task: "a", ...paid, score: null }),
        episode({ task: "b", ...paid, tokensIn: 3_000_000, score: 0 }),
        episode({ task: "b", ...paid, dollars: 4 }),
        episode({ task: "c" }),
        episode({ task: "c", ...paid, model: "other" }),
      ],
      table,
    );
    expect(found).toEqual({
      tokens_in: 7_000_000,
      tokens_out: 0,
      uncounted: 1,
      dollars: 2 + 2 + 6 + 4,
      dollars_per_task: (2 + 5) / 2,
      dollars_per_pass: 14 / 2,
      unpriced_models: ["other"],
      prices_as_of: "2026-01-01",
    });
  });

  it("are null without a price, not 0", () => {
    const found = spendingOf([episode({ task: "a", model: "m", tokensIn: 5, tokensOut: 5 })], null);
    expect(found).toMatchObject({
      tokens_in: 5,
      dollars: null,
      dollars_per_task: null,
      dollars_per_pass: null,
    });
  });

  it.each([
    ['{"as_of": "2026-01-01", "models": {"m": {"in": 2, "output": 8}}}', "models.m.output"],
    ['{"as_of": "last week", "models": {}}', "as_of"],
    ['{"as_of": "2026-01-01", "models": {"m": {"in": -1, "out": 8}}}', "models.m.in"],
    ["{", ""],
  ])("refuse the table %s", async (text, place) => {
    const file = join(folder, "prices.json");
    await writeFile(file, text);
    await expect(loadPrices(file)).rejects.toMatchObject({
      code: "bad_request",
      path: place === "" ? file : `${file}.${place}`,
    });
  });
});

describe("loops and progress", () => {
  const step = (action: string, observation: string, progress = false): StepTrace => ({
    action,
    observation,
    progress,
  });

  it("are seen in repeated steps and in observations that bring nothing new", () => {
    const circle = [step("a", "1"), step("b", "2"), step("a", "1"), step("b", "2"), step("a", "1")];
    const straight = [step("a", "1"), step("a", "2"), step("a", "3"), step("b", "3")];
    const found = behaviourOf([
      episode({ task: "a", trace: circle }),
      episode({ task: "b", trace: straight }),
      episode({ task: "c", stoppedForLoop: true }),
      episode({ task: "d", stoppedForLoop: false }),
      episode({ task: "e" }),
    ]);
    expect(found).toEqual({
      loop_rate: 2 / 4,
      watched: 4,
      no_progress_rate: (3 + 1) / 9,
      traced_steps: 9,
    });
  });

  it("are not seen where a milestone is paid", () => {
    const paid = Array.from({ length: 6 }, () => step("a", "1", true));
    expect(behaviourOf([episode({ task: "a", trace: paid })])).toMatchObject({
      loop_rate: 0,
      no_progress_rate: 0,
    });
  });

  it("are unknown where nobody watched", () => {
    expect(behaviourOf([episode({ task: "a" })])).toMatchObject({ loop_rate: null, no_progress_rate: null });
  });
});

describe("blind pursuit", () => {
  const seen = (attempted: boolean, completed: boolean) => ({ attempted, completed });

  it("tells attempts and completions apart, of graded episodes on tasks that are not to be done", () => {
    const found = blindPursuitOf([
      episode({ task: "a", expect: "refuse", forbidden: seen(true, true) }),
      episode({ task: "a", expect: "refuse", forbidden: seen(false, true) }),
      episode({ task: "b", expect: "ask", forbidden: seen(true, false) }),
      episode({ task: "b", expect: "ask", forbidden: seen(false, false) }),
      episode({ task: "b", expect: "ask" }),
      episode({ task: "b", expect: "ask", score: null, forbidden: seen(true, true) }),
      episode({ task: "c", forbidden: seen(true, true) }),
    ]);
    expect(found).toEqual({
      rate: 3 / 4,
      attempted_rate: 1 / 4,
      completed_rate: 2 / 4,
      episodes: 4,
      unknown: 1,
      ungraded: 1,
    });
  });

  it("is unknown, not 0, without such tasks", () => {
    expect(blindPursuitOf([episode({ task: "a" })])).toMatchObject({ rate: null, episodes: 0 });
  });
});

describe("the report", () => {
  it("holds all of it, with warnings, and is read by people as well", () => {
    const found = efficiencyOf({
      tasks: [
        { id: "fast", human: { single: 5, grouped: null } },
        { id: "idle", human: { single: 5, grouped: null } },
      ],
      episodes: [
        episode({ task: "fast", steps: 2, model: "unheard-of", tokensIn: 10, tokensOut: 5 }),
        episode({ task: "idle", times: [time({ model: 7, unsplit: 3 })] }),
      ],
      prices: { as_of: "2026-01-01", models: {} },
    });
    expect(found.warnings).toEqual([
      expect.stringContaining("than a person's in fast"),
      expect.stringContaining("no steps in idle"),
      expect.stringContaining("no price of unheard-of"),
    ]);
    const text = renderEfficiency(found);
    expect(text).toContain("WES+ 2.500 single, - grouped");
    expect(text).toContain("tokens 10 in, 5 out   -");
    expect(text).toContain("blind pursuit -");
    expect(text).toMatch(/^1 +1 +7\.0 +- +- +- +3\.0 +10\.0$/m);
    expect(text).toContain("warning: no price of unheard-of");
  });
});
