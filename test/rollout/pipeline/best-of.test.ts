import { describe, expect, it } from "vitest";
import type { Operator, PastStep } from "../../../src/operator/index.js";
import {
  type BestOfOptions,
  evaluateTaskSet,
  Pipeline,
  playBestOf,
  renderScorecard,
} from "../../../src/rollout/index.js";
import { dies, FakeClient, job, task } from "./support.js";

function play(client: FakeClient, options: BestOfOptions, operator?: Operator) {
  const pipeline = new Pipeline({ client, pools: { init: 1, run: 1, verify: 1 }, machines: 1, retries: 0 });
  return playBestOf(pipeline, job(0, operator === undefined ? {} : { operator }), options);
}

/** Sessions that score, pay and end as said, one after the other. */
function scripted(tries: { score?: number; reward?: number; done?: boolean }[]): FakeClient {
  return new FakeClient((index) => {
    const { score = 0, reward = 0, done = false } = tries[index] ?? {};
    return {
      step: (number) => Promise.resolve({ reward: number === 1 ? reward : 0, terminated: done }),
      evaluate: () => Promise.resolve({ score, passed: score === 1 }),
    };
  });
}

describe("best of n from the start", () => {
  it.each([
    ["score", 2],
    ["reward", 1],
    ["done", 0],
  ] as const)("by %s takes the one that the rule names", async (rule, selected) => {
    const tries = [
      { score: 0.5, done: true },
      { score: 0, reward: 1 },
      { score: 1, reward: 0.5 },
    ];
    const best = await play(scripted(tries), { n: 3, rule });
    expect(best).toMatchObject({ n: 3, rule, fromStep: 0, selected });
    expect(best.candidates.map(({ score }) => score)).toEqual([0.5, 0, 1]);
    expect(new Set(best.candidates.map(({ seed }) => seed)).size).toBe(3);
  });

  it("breaks a tie by fewer steps, then by who came first", async () => {
    const equal = [{ score: 1 }, { score: 1, done: true }, { score: 1, done: true }];
    expect(await play(scripted(equal), { n: 3, rule: "score" })).toMatchObject({ selected: 1 });
  });

  it("does not choose one that was not played, and nobody where none was", async () => {
    const client = new FakeClient((index) => (index === 0 ? { reset: dies } : {}));
    expect(await play(client, { n: 2, rule: "done" })).toMatchObject({ selected: 1 });
    const none = await play(new FakeClient(() => ({ reset: dies })), { n: 2, rule: "done" });
    expect(none.selected).toBeNull();
  });

  it("refuses numbers that make no sense", async () => {
    await expect(play(new FakeClient(), { n: 1, rule: "score" })).rejects.toMatchObject({ path: "n" });
    const from = { n: 2, rule: "score", fromStep: -1 } as const;
    await expect(play(new FakeClient(), from)).rejects.toMatchObject({ path: "fromStep" });
  });
});

describe("best of n from a step", () => {
  it("plays up to it once and forks there, and each branch has the steps of the trunk", async () => {
    const client = new FakeClient();
    const best = await play(client, { n: 3, rule: "score", fromStep: 1 });
    expect(client.forks).toBe(3);
    expect(client.open).toBe(0);
    // The oracle has two steps: the trunk does the first, each branch the second.
    expect(client.log.filter((line) => line.endsWith("step 1"))).toEqual(["0 step 1"]);
    expect(client.log.filter((line) => line.endsWith("step 2"))).toHaveLength(3);
    expect(best.candidates.map(({ steps, status }) => [steps, status])).toEqual([
      [2, "graded"],
      [2, "graded"],
      [2, "graded"],
    ]);
  });

  it("tells an operator that is no script what was done before it, and asks it nothing again", async () => {
    const told: (readonly PastStep[] | undefined)[] = [];
    let asked = 0;
    const model: Operator = {
      name: "model",
      play: (_, past) => {
        told.push(past);
        let turns = past?.length ?? 0;
        return {
          next: () => {
            asked += 1;
            turns += 1;
            return Promise.resolve(turns > 2 ? null : { actions: [turns], decision: { turn: turns } });
          },
        };
      },
    };
    await play(new FakeClient(), { n: 2, rule: "score", fromStep: 1 }, model);
    const past = [{ actions: [1], decision: { turn: 1 }, observation: { results: [] } }];
    expect(told).toEqual([undefined, past, past]);
    // Once in the trunk; twice in each branch.
    expect(asked).toBe(5);
  });

  it("has one candidate where the episode ends before the step", async () => {
    const best = await play(scripted([{ score: 1, done: true }]), { n: 4, rule: "score", fromStep: 3 });
    expect(best).toMatchObject({ selected: 0, candidates: [{ status: "graded", ended: "terminated" }] });
  });
});

describe("the report of best-of-n", () => {
  it("says what it is, and knows no pass@1 and no pass^k", async () => {
    const report = await evaluateTaskSet({
      tasks: [task],
      operator: job().operator,
      replicas: 2,
      seed: 1,
      connect: () =>
        Promise.resolve(
          new FakeClient((index) => ({
            evaluate: () => Promise.resolve(index % 2 === 0 ? { score: 0, passed: false } : {}),
          })),
        ),
      pipeline: { machines: 1, pools: { init: 1, run: 1, verify: 1 } },
      bestOf: { n: 2, rule: "score" },
    });
    expect(report.best_of).toEqual({ n: 2, rule: "score", from_step: 0 });
    expect(report.total).toMatchObject({ n: 2, passed: 2, pass_at_1: null, pass_hat_k: null, best_of_n: 1 });
    expect(report.episodes[0]?.bestOf?.candidates.map(({ score }) => score)).toEqual([0, 1]);
    const card = renderScorecard(report);
    expect(card).toContain("best of 2");
    expect(card).toContain("it is not pass@1");
    expect(card).not.toMatch(/pass\^|pass@1 +\d/);
  });
});
