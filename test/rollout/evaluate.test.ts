import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { EchoEnvironment, TaskEnvironmentFactory } from "../../src/env/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { ShinkenError } from "../../src/errors/index.js";
import {
  type Account,
  failOperator,
  nullOperator,
  type Operator,
  oracleOperator,
  scriptedPlayer,
} from "../../src/operator/index.js";
import { type EvaluateOptions, evaluateTaskSet, renderScorecard } from "../../src/rollout/index.js";
import type { Environment } from "../../src/env/environment.js";
import { describeOnHost } from "../env/support.js";
import { document } from "../env/session-support.js";
import { HostProvider } from "../support/host-sandbox/index.js";
import { start, stopAll } from "../support/wire-server.js";

afterEach(stopAll);

const task = makeTask(document);

/** What a model that tells no price says of one episode. */
const told: Account = {
  ...{ stopped: "done", detail: null, requests: 1, retries: 0, malformed: 0 },
  ...{ tokens_in: 1_000, tokens_out: 100, estimated: false, dollars: null, served: null, fingerprint: null },
};

/** A client without a server, whose sessions score what the test says. */
function scripted(scores: (number | Error)[]): EvaluateOptions["connect"] {
  let next = 0;
  const client = {
    create: (): Promise<Environment> => {
      const score = scores[next % scores.length] as number | Error;
      next += 1;
      const environment = new EchoEnvironment();
      environment.reset = () => Promise.resolve({ observation: { results: [] }, info: { ready_ms: 1.5 } });
      environment.step = () => {
        if (score instanceof Error) return Promise.reject(score);
        return Promise.resolve({
          observation: { results: [] },
          reward: 1,
          terminated: true,
          truncated: false,
          info: { earned: ["one"] },
        });
      };
      environment.evaluate = () =>
        Promise.resolve({
          task: task.id,
          taskVersion: task.version,
          verifierVersion: "v",
          status: "graded",
          score: score as number,
          passed: score === 1,
          checks: [],
        });
      return Promise.resolve(environment);
    },
    close: () => Promise.resolve(),
  };
  return () => Promise.resolve(client);
}

describe("evaluating a task set", () => {
  const options = {
    tasks: [task],
    operator: oracleOperator,
    replicas: 5,
    seed: 1,
    // One at a time, so that the client's scores come in the order of the replicas.
    pipeline: { machines: 1, retries: 0 },
  };

  it("counts ungraded replicas beside the others, never inside", async () => {
    const died = new ShinkenError("machine_died", "kernel panic");
    const report = await evaluateTaskSet({ ...options, connect: scripted([1, died, 0.5, 1, died]) });
    expect(report.tasks[0]).toMatchObject({
      id: "two-files",
      n: 3,
      passed: 2,
      ungraded: 2,
      ungraded_reasons: ["machine_died: kernel panic"],
      pass_at_1: 2 / 3,
      pass_hat_k: null,
      k: 5,
    });
    expect(report.tasks[0]?.score_mean).toBeCloseTo(2.5 / 3, 12);
    expect(report.total).toMatchObject({ n: 3, passed: 2, ungraded: 2, icc1: null });
    expect(report.total.score_ci?.[0]).toBeGreaterThanOrEqual(0.5);
    expect(report.total.score_ci?.[1]).toBe(1);
  });

  it("tells what it cost: steps, time by step, and what nobody told as null", async () => {
    const { efficiency, episodes } = await evaluateTaskSet({ ...options, connect: scripted([1, 0]) });
    const steps = episodes[0]?.steps ?? 0;
    expect(efficiency.steps).toMatchObject({ unplayed_tasks: [], ungraded_tasks: [] });
    expect(efficiency.latency.by_step[0]).toMatchObject({ from: 1, steps: 5, p50_ms: { guest: null } });
    expect(efficiency.latency.by_step.reduce((sum, range) => sum + range.steps, 0)).toBe(5 * steps);
    expect(efficiency.spending).toMatchObject({ tokens_in: null, uncounted: 5, dollars: null });
    expect(efficiency.latency.share).toMatchObject({ guest: null, harness: null, judge: null });
    expect(efficiency.behaviour).toMatchObject({ loop_rate: null, no_progress_rate: null });
    expect(efficiency.blind_pursuit.rate).toBeNull();
  });

  it("tells the pace of what it has played now, not of what an earlier part of the run had", async () => {
    const first = await evaluateTaskSet({ ...options, replicas: 3, connect: scripted([1]) });
    const before = first.episodes;
    const whole = await evaluateTaskSet({ ...options, before, connect: scripted([1]) });
    expect(whole.total.n).toBe(5);
    const [all, now] = [first.timing.steps / 3, whole.timing.steps / 2];
    expect(now).toBe(all);
    const nothing = await evaluateTaskSet({ ...options, before: whole.episodes, connect: scripted([1]) });
    expect(nothing.timing).toMatchObject({ steps: 0, steps_per_s: 0 });
  });

  it("prices what a model read and wrote, and says on the card what that cost", async () => {
    const account = (): Account => ({ ...told, served: "m-1-2026-01-02" });
    const operator: Operator = {
      name: "openai:m-1",
      model: "m-1",
      play: (variant) => ({ ...scriptedPlayer(variant.task.oracle.map((action) => [action])), account }),
    };
    const prices = { as_of: "2026-01-01", source: "a test", models: { "m-1": { in: 2, out: 8 } } };
    const report = await evaluateTaskSet({ ...options, operator, prices, connect: scripted([1]) });
    expect(report.efficiency.spending).toMatchObject({ tokens_in: 5_000, prices_as_of: "2026-01-01" });
    expect(report.efficiency.spending.dollars).toBeCloseTo(5 * 0.0028, 12);
    expect(renderScorecard(report)).toContain(
      "tokens 5000 in, 500 out   $0.0140, $0.0028 a task, $0.0028 a pass",
    );
  });

  it("gives the same seeds and parameters to a second run of the same seed, and others to another", async () => {
    const seeds = async (seed: number) =>
      (await evaluateTaskSet({ ...options, seed, connect: scripted([1]) })).episodes.map(
        (episode) => episode.seed,
      );
    const first = await seeds(1);
    expect(await seeds(1)).toEqual(first);
    expect(new Set(first).size).toBe(5);
    expect(await seeds(2)).not.toEqual(first);
  });

  it("renders a card that pass^k leads, with the reasons of ungraded replicas", async () => {
    const died = new ShinkenError("machine_died", "kernel panic");
    const report = await evaluateTaskSet({
      ...options,
      connect: scripted([1, 1, 1, 1, 1, died]),
      replicas: 6,
    });
    const card = renderScorecard(report);
    expect(card).toMatch(/^task +pass\^6 +95 % +pass@1 +95 %/m);
    expect(card).toMatch(/^two-files +- +- +1\.00 +0\.57 - 1\.00 +1\.00 +1\.0\/3 +1\.0 +- +1$/m);
    expect(card).toContain("ungraded two-files: machine_died: kernel panic");
    expect(card).toContain("fork to ready p50 1.5 p99 1.5 ms");
  });

  it("refuses a number of replicas that makes no sense", async () => {
    await expect(evaluateTaskSet({ ...options, replicas: 0, connect: scripted([1]) })).rejects.toMatchObject({
      code: "bad_request",
      path: "replicas",
    });
  });
});

describeOnHost("over a real server and a real WebSocket", () => {
  async function play(operator: Operator, replicas = 2) {
    const provider = new HostProvider();
    const factory = new TaskEnvironmentFactory({ provider, tasks: [task] });
    const server = await start({ factory, makeEcho: () => new EchoEnvironment() });
    try {
      return await evaluateTaskSet({
        tasks: [task],
        operator,
        replicas,
        seed: 3,
        connect: () => connect(server.url),
      });
    } finally {
      await server.close();
      factory.close();
      expect(provider.openMachines()).toBe(0);
      await provider.close();
    }
  }

  it("the oracle passes every time", async () => {
    const report = await play(oracleOperator, 3);
    expect(report.tasks[0]).toMatchObject({ n: 3, passed: 3, pass_hat_k: 1, score_mean: 1, steps_mean: 2 });
    expect(report.tasks[0]?.milestones).toEqual({ earned_mean: 2, total: 3 });
    expect(report.timing.ready_ms.p50).toBe(1);
    expect(report.timing.steps).toBe(6);
  });

  it("doing nothing and giving up never pass", async () => {
    for (const operator of [nullOperator, failOperator]) {
      expect((await play(operator)).tasks[0]).toMatchObject({ n: 2, passed: 0, pass_hat_k: 0 });
    }
  });

  it("an agent that solves half of it earns half of it", async () => {
    const half: Operator = {
      name: "half",
      play: () => scriptedPlayer([[{ type: "exec", command: "echo 1 > one" }]]),
    };
    expect((await play(half)).tasks[0]).toMatchObject({ passed: 0, score_mean: 0.75 });
  });
});
