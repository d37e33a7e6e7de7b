import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EfficiencyTask, weightedEfficiency } from "../../../src/rollout/efficiency/index.js";
import { absent, sharedFile } from "../../suites/support.js";
import { episode } from "./cost.js";

const task = (id: string, single: number | null, grouped: number | null = null): EfficiencyTask => ({
  id,
  human: single === null ? null : { single, grouped },
});

describe("the Weighted Efficiency Score", () => {
  it("is score times human steps over steps, and less what failures walked of the limit", () => {
    const tasks = [task("a", 5, 2), task("b", 4, 4), task("c", 10, 5)];
    const episodes = [
      episode({ task: "a", score: 1, steps: 10 }),
      episode({ task: "b", score: 0.5, steps: 20 }),
      episode({ task: "c", score: 0, steps: 25 }),
    ];
    const found = weightedEfficiency(tasks, episodes);
    expect(found.wes_plus_single).toBeCloseTo((5 / 10 + (0.5 * 4) / 20 + 0) / 3, 12);
    expect(found.wes_plus_grouped).toBeCloseTo((2 / 10 + (0.5 * 4) / 20 + 0) / 3, 12);
    expect(found.wes_minus).toBeCloseTo(-(0 + (0.5 * 20) / 50 + 25 / 50) / 3, 12);
    expect(found.steps_over_human).toBe(2);
    expect(found.above_one).toEqual([]);
  });

  it("takes the longest trajectory for the limit where that is longer", () => {
    const found = weightedEfficiency(
      [task("a", 5), task("b", 5)],
      [episode({ task: "a", score: 0, steps: 30 }), episode({ task: "b", score: 1, steps: 60 })],
    );
    expect(found.wes_minus).toBeCloseTo(-(30 / 60) / 2, 12);
  });

  it("keeps a task that nobody played in the denominator, and an ungraded one out of it", () => {
    const tasks = [task("played", 5), task("unplayed", 5), task("broken", 5)];
    const found = weightedEfficiency(tasks, [
      episode({ task: "played", score: 1, steps: 5 }),
      episode({ task: "broken", score: null, steps: 3 }),
    ]);
    expect(found.wes_plus_single).toBe(0.5);
    expect(found.wes_minus).toBe(0);
    expect(found).toMatchObject({ unplayed_tasks: ["unplayed"], ungraded_tasks: ["broken"] });
  });

  it("has none for an episode without a step, which the published scorer divides by", () => {
    const found = weightedEfficiency(
      [task("a", 5), task("b", 5)],
      [episode({ task: "a", score: 1, steps: 0 }), episode({ task: "b", score: 1, steps: 5 })],
    );
    expect(found).toMatchObject({ wes_plus_single: 1, without_steps: ["a"], wes_minus: 0 });
  });

  it("warns of what is faster than a person, and counts what has no person beside", () => {
    const found = weightedEfficiency(
      [task("a", 5), task("b", null)],
      [episode({ task: "a", steps: 2 }), episode({ task: "b", steps: 2 })],
    );
    expect(found).toMatchObject({ wes_plus_single: 2.5, above_one: ["a"], without_human: ["b"] });
    expect(found.wes_plus_grouped).toBeNull();
  });

  it("lies in its bounds, gives tasks the same weight, and does not care about order", () => {
    const episodes = fc.array(
      fc.record({
        task: fc.constantFrom("a", "b", "c"),
        score: fc.option(fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4)),
        steps: fc.integer({ min: 0, max: 80 }),
      }),
      { maxLength: 12 },
    );
    const tasks = [task("a", 3), task("b", 7), task("c", 20)];
    fc.assert(
      fc.property(episodes, (told) => {
        const found = weightedEfficiency(tasks, told.map(episode));
        const other = weightedEfficiency([...tasks].reverse(), told.map(episode).reverse());
        if (found.wes_minus !== null) {
          expect(found.wes_minus).toBeGreaterThanOrEqual(-1);
          expect(found.wes_minus).toBeLessThanOrEqual(0);
        }
        if (found.wes_plus_single !== null) {
          expect(found.wes_plus_single).toBeGreaterThanOrEqual(0);
          expect(other.wes_plus_single).toBeCloseTo(found.wes_plus_single, 12);
        }
      }),
    );
  });
});

const published = ["data", "osworld-human", "steps.tsv"];

describe.skipIf(absent(...published))(
  "OSWorld's human steps (skipped where ../shared/data is absent)",
  () => {
    const tasks = (): EfficiencyTask[] =>
      readFileSync(sharedFile(...published), "utf8")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => line.split("\t"))
        .map(([, id = "", single, grouped]) => task(id, Number(single), Number(grouped)));

    it("give a person's own trajectory a WES+ of 1, and the grouped one the share that grouping saves", () => {
      const set = tasks();
      expect(set).toHaveLength(369);
      const found = weightedEfficiency(
        set,
        set.map(({ id, human }) => episode({ task: id, steps: human?.single ?? 0 })),
      );
      expect(found.wes_plus_single).toBeCloseTo(1, 12);
      const saved =
        set.reduce((sum, { human }) => sum + (human?.grouped ?? 0) / (human?.single ?? 1), 0) / 369;
      expect(found.wes_plus_grouped).toBeCloseTo(saved, 12);
      expect(found.wes_plus_grouped).toBeLessThan(1);
      expect(found).toMatchObject({ wes_minus: 0, steps_over_human: 1, above_one: [], without_human: [] });
    });

    it("give an agent of the published kind figures of the published kind", () => {
      // 41.4 % passed with 1.4 times the human's steps, the others at the limit of 50.
      const set = tasks();
      const passed = Math.round(0.414 * set.length);
      const found = weightedEfficiency(
        set,
        set.map(({ id, human }, index) =>
          index % set.length < passed
            ? episode({ task: id, steps: Math.ceil(1.4 * (human?.single ?? 1)) })
            : episode({ task: id, score: 0, steps: 50 }),
        ),
      );
      expect(found.wes_plus_single).toBeGreaterThan(0.2);
      expect(found.wes_plus_single).toBeLessThan(0.3);
      expect(found.wes_plus_grouped).toBeLessThan(found.wes_plus_single ?? 0);
      // One trajectory that passed is longer than the limit, and takes its place.
      const longest = Math.max(
        ...set.slice(0, passed).map(({ human }) => Math.ceil(1.4 * (human?.single ?? 1))),
      );
      expect(longest).toBeGreaterThan(50);
      expect(found.wes_minus).toBeCloseTo(-((1 - passed / 369) * 50) / longest, 12);
    });
  },
);
