import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  allowedFields,
  compareRuns,
  digestByTask,
  leaderboard,
  openRunStore,
  type RunLock,
  type RunStore,
  type StoredEpisode,
} from "../../../src/rollout/store/index.js";
import { unequalConditions } from "../../../src/rollout/store/leaderboard.js";
import { graded, grading, lock, newFolder, ungraded } from "./support.js";

const folder = newFolder();
let store: RunStore;
beforeAll(() => {
  store = openRunStore(join(folder, "runs.db"));
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

/** A finished run with given scores of each task; null was not graded. */
function runOf(
  scores: Record<string, (number | null)[]>,
  more: Partial<RunLock> = {},
  of: Partial<StoredEpisode> = {},
): string {
  const id = store.begin({ ...lock, ...more });
  for (const [task, replicas] of Object.entries(scores))
    for (const [replica, score] of replicas.entries())
      store.add(id, score === null ? ungraded(task, replica, of) : graded(task, replica, score, of));
  store.end(id, "finished");
  return id;
}

const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;

const good = { a: [1, 1, 1, 1, 1, 1], b: [1, 1, 1, 1, 1, 0], c: [1, 1, 1, 1, 1, 1] };
const bad = { a: [0, 0, 1, 0, 0, 1], b: [0, 0, 0, 0, 1, 0], c: [0, 1, 0, 1, 0, 0] };

describe("two runs that were played alike", () => {
  it("are paired task by task, and a drop that chance does not explain is a regression", () => {
    const comparison = compareRuns(store, runOf(good), runOf(bad));
    expect(comparison.tasks.map(({ task, score_a }) => [task, score_a])).toEqual([
      ["a", 1],
      ["b", 5 / 6],
      ["c", 1],
    ]);
    expect(comparison.paired).toMatchObject({ tasks: 3, leftOut: 0 });
    expect(comparison.paired.difference).toBeCloseTo((2 / 6 - 1 + 1 / 6 - 5 / 6 + 2 / 6 - 1) / 3);
    expect(comparison.regression).toMatchObject({ significant: true, tasks: 3 });
    expect(comparison.differences).toEqual([]);
  });

  it("are no regression the other way round, nor against themselves, nor within the margin", () => {
    const [a, b] = [runOf(good), runOf(bad)];
    expect(compareRuns(store, b, a).regression.significant).toBe(false);
    expect(compareRuns(store, a, a).regression).toMatchObject({ significant: false, difference: 0 });
    expect(compareRuns(store, a, b, { margin: 0.9 }).regression.significant).toBe(false);
  });

  it("give the same figures each time, and an interval that holds the difference", () => {
    const [a, b] = [runOf(good), runOf(bad)];
    const [one, again] = [compareRuns(store, a, b, { seed: 3 }), compareRuns(store, a, b, { seed: 3 })];
    expect(again).toEqual(one);
    const [low, high] = one.paired.bootstrap ?? expect.fail("no interval");
    expect(low).toBeLessThanOrEqual(one.paired.difference ?? 0);
    expect(high).toBeGreaterThanOrEqual(one.paired.difference ?? 0);
  });

  it("count what was not graded beside, never as 0", () => {
    const { tasks, regression } = compareRuns(
      store,
      runOf({ a: [1, 1, 1], b: [1, 1, 1] }),
      runOf({ a: [1, null, null], b: [null, null, 1] }),
    );
    expect(tasks).toMatchObject([
      { n_a: 3, n_b: 1, ungraded_a: 0, ungraded_b: 2, score_b: 1, difference: 0 },
      { ungraded_b: 2, difference: 0 },
    ]);
    expect(regression).toMatchObject({ significant: false, difference: 0 });
  });

  it("are told apart where nothing was graded in both", () => {
    const { regression, paired } = compareRuns(store, runOf({ a: [null] }), runOf({ a: [1] }));
    expect(regression).toMatchObject({ p: null, significant: false });
    expect(paired.reason).toMatch(/no task/);
  });
});

describe("two runs that were played otherwise", () => {
  const fields: [keyof RunLock, RunLock[keyof RunLock], string][] = [
    ["taskSet", "set-2", "task_set"],
    ["verifier", "verifier-2", "verifier"],
    ["image", null, "image"],
    ["golden", "golden-2", "golden"],
    ["runtime", "shinken-gym/9.0.0", "runtime"],
    ["operator", "oracle", "operator"],
    ["scaffold", "neutral/2", "scaffold"],
    ["model", "m-2", "model"],
    ["revision", null, "revision"],
    ["seed", 1, "seed"],
    ["replicas", 9, "replicas"],
    ["settings", { ...lock.settings, temperature: 1 }, "settings.temperature"],
  ];
  it.each(fields)("by %s are refused, unless that is allowed", (field, value, name) => {
    const [a, b] = [runOf(good), runOf(good, { [field]: value })];
    expect(() => compareRuns(store, a, b)).toThrow(refusal("locks_differ", new RegExp(`${name}: .* and `)));
    const allowed = allowedFields([name.split(".")[0] ?? ""]);
    const other = allowedFields([name === "seed" ? "model" : "seed"]);
    expect(() => compareRuns(store, a, b, { allowed: other })).toThrow(
      refusal("locks_differ", /played alike/),
    );
    expect(compareRuns(store, a, b, { allowed }).differences).toMatchObject([{ field: name, task: null }]);
    expect(compareRuns(store, a, b, { allowed: allowedFields(["all"]) }).differences).toHaveLength(1);
  });

  it.each([
    ["taskVersion", "task_version"],
    ["verifierVersion", "verifier"],
    ["image", "image"],
    ["golden", "golden"],
    ["variant", "variant"],
  ] as const)("by the %s of one task are refused, and the message names it", (field, name) => {
    const [a, b] = [runOf(good), runOf(good, {}, { [field]: "another" })];
    expect(() => compareRuns(store, a, b)).toThrow(refusal("locks_differ", new RegExp(`${name} of a: `)));
    const allowed = allowedFields([name]);
    expect(compareRuns(store, a, b, { allowed }).regression.significant).toBe(false);
  });

  it("by two models differ in the model alone, whatever operator and settings say of it", () => {
    const of = (model: string) => {
      const settings = { ...lock.settings, model };
      return runOf(good, { operator: `openai:${model} (best of 2 by score)`, model, settings });
    };
    const [a, b] = [of("m-1"), of("m-1-large")];
    const { differences } = compareRuns(store, a, b, { allowed: allowedFields(["model"]) });
    expect(differences).toEqual([{ field: "model", task: null, a: "m-1", b: "m-1-large" }]);
  });

  it("leave out tasks of one of them, and are refused with none in common", () => {
    const [a, b] = [runOf({ a: [1], b: [1] }), runOf({ b: [1], c: [1] })];
    expect(compareRuns(store, a, b)).toMatchObject({ only_a: ["a"], only_b: ["c"], paired: { tasks: 1 } });
    expect(() => compareRuns(store, a, runOf({ c: [1] }))).toThrow(refusal("bad_request", /no task/));
  });

  it("are allowed by names that locks have, and others are refused with what was meant", () => {
    const wrong = expect.objectContaining({ suggestion: 'did you mean "model"?' }) as Error;
    expect(() => allowedFields(["modle"])).toThrow(wrong);
  });
});

describe("scores that were given later", () => {
  it("are compared with others of their kind, and with recorded ones only where that is allowed", () => {
    const regrade = (id: string, score: number, verifier: string): void => {
      for (const one of store.episodes(id))
        store.addGrading(grading(one.episode, score, { task: one.task, verifier }));
    };
    const [a, b, c] = [runOf(good), runOf(good, { verifier: "verifier-9" }), runOf(good)];
    regrade(a, 1, "v2");
    regrade(b, 0.5, "v2");
    regrade(c, 0.5, "v3");
    const compared = compareRuns(store, a, b, { provenance: "regraded" });
    expect(compared.regression).toMatchObject({ significant: true, difference: -0.5 });
    expect(() => compareRuns(store, a, c, { provenance: "regraded" })).toThrow(
      refusal("locks_differ", /verifier of a: v2 and v3/),
    );
  });
});

describe("a leaderboard", () => {
  it("has a line for each run and provenance, and never a mean over several of these", () => {
    const set = { taskSet: "leaders" };
    const graded1 = runOf({ a: [1, 0.5], b: [null, 0.5] }, set);
    store.addGrading(grading(store.episodes(graded1)[0]?.episode ?? "", 0.25));
    const told = store.begin({ ...lock, ...set, verifier: "self-reported" }, {}, "reported");
    store.add(told, graded("a", 0, 1, { provenance: "self_reported", passed: null }));
    const rows = leaderboard(store, { taskSet: "leader" });
    expect(rows.map(({ run, provenance, score_mean }) => [run, provenance, score_mean])).toEqual([
      [told, "self_reported", 1],
      [graded1, "recorded", 0.625],
      [graded1, "regraded", 0.25],
    ]);
    expect(rows[0]).toMatchObject({ judged: 0, passed: null, score_ci: null, source: "reported" });
    expect(rows[1]).toMatchObject({
      tasks: 2,
      n: 3,
      passed: 1,
      judged: 3,
      ungraded: 1,
      missing: 0,
      tokens_in: 400,
    });
    expect(rows[1]?.score_ci?.[0]).toBeLessThan(0.625);
    expect(rows[2]).toMatchObject({ n: 1, missing: 3, graded_by: "shinken-gym/0.2.0" });
    expect(unequalConditions(rows)).toEqual(["verifier", "provenance"]);
    expect(leaderboard(store, { taskSet: "leaders", provenance: "regraded" })).toHaveLength(1);
  });

  it("counts the last attempt at a replica, and no other", () => {
    const id = store.begin({ ...lock, taskSet: "attempts" });
    store.add(id, ungraded("a", 0));
    store.add(id, graded("a", 0, 1, { attempt: 1 }));
    expect(leaderboard(store, { taskSet: "attempts" })).toMatchObject([{ n: 1, ungraded: 0, score_mean: 1 }]);
  });
});

describe("one digest of what tasks tell", () => {
  it("is the value that all tell, does not depend on their order, and tells others apart", () => {
    expect(
      digestByTask([
        ["a", "x"],
        ["b", "x"],
      ]),
    ).toBe("x");
    expect(digestByTask([])).toBeNull();
    expect(digestByTask([["a", null]])).toBeNull();
    const one = digestByTask([
      ["a", "x"],
      ["b", "y"],
    ]);
    expect(
      digestByTask([
        ["b", "y"],
        ["a", "x"],
      ]),
    ).toBe(one);
    expect(
      digestByTask([
        ["a", "y"],
        ["b", "x"],
      ]),
    ).not.toBe(one);
    expect(
      digestByTask([
        ["a", "x"],
        ["b", null],
      ]),
    ).not.toBe(
      digestByTask([
        ["a", null],
        ["b", "x"],
      ]),
    );
  });
});
