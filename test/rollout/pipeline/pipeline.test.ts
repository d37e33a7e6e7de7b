import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../../src/errors/index.js";
import type { Operator } from "../../../src/operator/index.js";
import {
  budgetsOf,
  type EpisodeOutcome,
  Pipeline,
  type PipelineOptions,
} from "../../../src/rollout/index.js";
import { dies, FakeClient, job, never, variant } from "./support.js";

/** Budgets that a stuck session runs through at once. */
const quick: Partial<PipelineOptions> = {
  budgets: { setup: 0.05, agent: 0.05, grader: 0.05 },
  graceSeconds: 0.02,
  retries: 0,
  regrades: 0,
};

function pipeline(client: FakeClient, options: Partial<PipelineOptions> = {}): Pipeline {
  return new Pipeline({ client, pools: { init: 2, run: 2, verify: 2 }, ...options });
}

const many = (count: number) => Array.from({ length: count }, (_, replica) => replica);
const graded = (outcomes: readonly EpisodeOutcome[]) =>
  outcomes.filter(({ status }) => status === "graded").length;

describe("an episode on its way through the pools", () => {
  it("is made, played and graded, and says how long each stage worked on it", async () => {
    const client = new FakeClient();
    const outcome = await pipeline(client).play(job());
    expect(outcome).toMatchObject({
      status: "graded",
      score: 1,
      stage: null,
      ended: "operator",
      reason: null,
    });
    expect(outcome.attempts).toHaveLength(1);
    expect(outcome.attempts[0]).toMatchObject({ stage: null, code: null, steps: 2, evaluations: 1 });
    expect(client.log).toEqual(["0 reset", "0 step 1", "0 step 2", "0 evaluate", "0 close"]);
  });

  it("lets a third one boot and another play while it is graded", async () => {
    // Each stage of each session waits until the others are where they should be.
    const seen = new Set<string>();
    const all = (...what: string[]) => what.every((one) => seen.has(one));
    const until = async (holds: () => boolean) => {
      while (!holds()) await new Promise((resolve) => setImmediate(resolve));
      return undefined;
    };
    const together = () => all("grading", "playing", "booting");
    const client = new FakeClient((index) => {
      if (index === 0) return { evaluate: () => (seen.add("grading"), until(together)) };
      if (index === 1) return { step: () => (seen.add("playing"), until(together)) };
      return {
        reset: async () => {
          seen.add("booting");
          await until(together);
        },
      };
    });
    const one = pipeline(client, { pools: { init: 1, run: 1, verify: 1 } });
    const outcomes = await Promise.all(many(3).map((replica) => one.play(job(replica))));
    expect(graded(outcomes)).toBe(3);
  });

  it("keeps within the sizes of the pools, and opens no more sessions than it may", async () => {
    const working = { init: 0, run: 0, verify: 0 };
    const peak = { init: 0, run: 0, verify: 0 };
    const at = async (stage: keyof typeof working) => {
      working[stage] += 1;
      peak[stage] = Math.max(peak[stage], working[stage]);
      await new Promise((resolve) => setTimeout(resolve, 1));
      working[stage] -= 1;
      return undefined;
    };
    const client = new FakeClient(() => ({
      reset: async () => {
        await at("init");
      },
      step: () => at("run"),
      evaluate: () => at("verify"),
    }));
    const one = pipeline(client, { pools: { init: 2, run: 3, verify: 1 }, machines: 5 });
    const outcomes = await Promise.all(many(40).map((replica) => one.play(job(replica))));
    expect(graded(outcomes)).toBe(40);
    expect(peak.init).toBeLessThanOrEqual(2);
    expect(peak.run).toBeLessThanOrEqual(3);
    expect(peak.verify).toBe(1);
    expect(client.openPeak).toBeLessThanOrEqual(5);
    expect(client.open).toBe(0);
    const { init, run, verify, machines } = one.metrics();
    for (const pool of [init, run, verify, machines])
      expect(pool).toMatchObject({ done: 40, running: 0, queued: 0 });
  });
});

describe("one stuck machine", () => {
  const stuck = {
    create: { create: never },
    reset: { reset: never },
    step: { step: never },
    evaluate: { evaluate: never },
    close: { close: never },
  };

  it.each(Object.entries(stuck))("that never answers to %s stalls no pool", async (where, behaviour) => {
    const client = new FakeClient((index) => (index === 0 ? behaviour : {}));
    const one = pipeline(client, { ...quick, pools: { init: 1, run: 1, verify: 1 } });
    const [first, ...others] = await Promise.all(many(6).map((replica) => one.play(job(replica))));
    expect(graded(others)).toBe(5);
    const stages = { create: "init", reset: "init", step: "run", evaluate: "verify", close: null };
    expect(first).toMatchObject({ stage: stages[where as keyof typeof stages] });
    if (where === "close") expect(first).toMatchObject({ status: "graded" });
    else expect(first).toMatchObject({ status: "ungraded", score: null, passed: null });
    if (where !== "close") expect(first?.reason).toMatch(/^machine_timeout: the .*no answer within/);
    if (where === "close") expect(one.metrics().leftBehind).toBe(1);
  });

  it("whose session comes when nobody waits for it any more is closed", async () => {
    let come: () => void = () => undefined;
    const client = new FakeClient(() => ({ create: () => new Promise((resolve) => (come = resolve)) }));
    expect(await pipeline(client, quick).play(job())).toMatchObject({ stage: "init" });
    come();
    while (!client.log.includes("0 close")) await new Promise((resolve) => setImmediate(resolve));
    expect(client.open).toBe(0);
  });
});

describe("budgets", () => {
  it("stop the guest and the player, and what the agent had done by then is graded", async () => {
    let stop: () => void = () => undefined;
    const client = new FakeClient(() => ({
      step: () =>
        new Promise((_, reject) => (stop = () => reject(new ShinkenError("cancelled", "cancelled")))),
      cancel: () => stop(),
    }));
    const outcome = await pipeline(client, { ...quick, graceSeconds: 5 }).play(job());
    expect(outcome).toMatchObject({ status: "graded", ended: "budget", steps: 0 });
    expect(client.log).toEqual(["0 reset", "0 step 1", "0 cancel", "0 evaluate", "0 close"]);
  });

  it("tell the player through its signal, and leave one behind that does not listen", async () => {
    let told: AbortSignal | undefined;
    const slow: Operator = {
      name: "slow",
      play: () => ({
        next: (_, signal) => {
          told = signal;
          return never();
        },
      }),
    };
    const outcome = await pipeline(new FakeClient(), quick).play(job(0, { operator: slow }));
    expect(outcome).toMatchObject({ status: "graded", ended: "budget" });
    expect(told?.aborted).toBe(true);
  });

  it("are not charged for waiting", async () => {
    // Eight jobs share one slot: the last one waits for longer than its budget, and needs a small part of it.
    const some = () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 50));
    const one = pipeline(new FakeClient(() => ({ step: some })), {
      pools: { init: 8, run: 1, verify: 1 },
      machines: 8,
      budgets: { agent: 0.6 },
      retries: 0,
    });
    const outcomes = await Promise.all(many(8).map((replica) => one.play(job(replica))));
    expect(outcomes.map(({ ended }) => ended)).toEqual(many(8).map(() => "operator"));
    expect(outcomes[7]?.attempts[0]?.waitedMs.run).toBeGreaterThan(600);
  });

  it("are the task's own limits on the wall clock if nobody says otherwise", () => {
    const { setup, agent, verify } = variant.task.limits;
    const budgets = budgetsOf(variant, { grader: 7 });
    expect(budgets).toMatchObject({ agent: agent.wall_seconds, grader: 7 });
    // The server keeps these itself: ours is the net below it.
    expect(budgets.setup).toBeGreaterThan(setup.wall_seconds);
    expect(budgetsOf(variant).grader).toBeGreaterThan(verify.wall_seconds);
  });
});

describe("retries", () => {
  it("play again on a fresh fork where the harness failed, and keep every attempt", async () => {
    const client = new FakeClient((index) =>
      index === 0 ? { reset: dies } : index === 1 ? { step: dies } : {},
    );
    const one = pipeline(client, { retries: 2 });
    const outcome = await one.play(job());
    expect(outcome).toMatchObject({ status: "graded", score: 1, stage: null });
    expect(outcome.attempts.map(({ stage, code }) => [stage, code])).toEqual([
      ["init", "machine_died"],
      ["run", "machine_died"],
      [null, null],
    ]);
    expect(client.created).toBe(3);
    expect(client.open).toBe(0);
    expect(one.metrics().retries).toBe(2);
  });

  it("are bounded", async () => {
    const client = new FakeClient(() => ({ reset: dies }));
    const outcome = await pipeline(client, { retries: 3 }).play(job());
    expect(outcome).toMatchObject({
      status: "ungraded",
      stage: "init",
      reason: "machine_died: kernel panic",
    });
    expect(outcome.attempts).toHaveLength(4);
  });

  it("are not made for what the operator or the task did", async () => {
    const unknown = new ShinkenError("unknown_task", "there is no such task");
    const client = new FakeClient(() => ({ create: () => Promise.reject(unknown) }));
    const outcome = await pipeline(client, { retries: 3 }).play(job());
    expect(outcome).toMatchObject({ stage: "init", reason: "unknown_task: there is no such task" });
    expect(client.created).toBe(1);
  });

  it("grade the same machine again where grading failed, and play nothing again", async () => {
    let evaluations = 0;
    const client = new FakeClient(() => ({
      evaluate: () =>
        ++evaluations === 1
          ? Promise.reject(new ShinkenError("grader_error", "no fork"))
          : Promise.resolve(undefined),
    }));
    const outcome = await pipeline(client).play(job());
    expect(outcome).toMatchObject({ status: "graded", score: 1 });
    expect(outcome.attempts).toMatchObject([{ evaluations: 2, stage: null }]);
    expect(client.created).toBe(1);
  });

  it("leave a replica ungraded whose grading keeps failing", async () => {
    const client = new FakeClient(() => ({
      evaluate: () => Promise.reject(new ShinkenError("grader_error", "no fork")),
    }));
    const outcome = await pipeline(client, { retries: 3 }).play(job());
    expect(outcome).toMatchObject({
      status: "ungraded",
      score: null,
      stage: "verify",
      reason: "grader_error: no fork",
    });
    expect(client.created).toBe(1);
  });
});

describe("an action that is refused", () => {
  it("ends the play, and what was done before it is graded: it is no way out of a verdict", async () => {
    const client = new FakeClient(() => ({
      step: (number) =>
        number === 2
          ? Promise.reject(new ShinkenError("bad_action", "no such action"))
          : Promise.resolve({ reward: 0.5 }),
      evaluate: () => Promise.resolve({ score: 0.5, passed: false }),
    }));
    const outcome = await pipeline(client).play(job());
    expect(outcome).toMatchObject({ status: "graded", score: 0.5, ended: "refused", steps: 1 });
    expect(outcome.attempts).toMatchObject([{ stage: null, code: "bad_action" }]);
  });
});

describe("cancelling", () => {
  it("stops the guest, begins nothing that waits, and closes what was open", async () => {
    const controller = new AbortController();
    let stop: () => void = () => undefined;
    const client = new FakeClient(() => ({
      step: () => {
        controller.abort(new ShinkenError("cancelled", "somebody pressed Ctrl-C"));
        return new Promise((_, reject) => (stop = () => reject(new ShinkenError("cancelled", "cancelled"))));
      },
      cancel: () => stop(),
    }));
    const one = pipeline(client, { pools: { init: 1, run: 1, verify: 1 }, machines: 1 });
    const outcomes = await Promise.all(many(4).map((replica) => one.play(job(replica), controller.signal)));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: "ungraded", reason: "cancelled: somebody pressed Ctrl-C" });
    expect(client.created).toBe(1);
    expect(client.open).toBe(0);
    expect(client.log).toContain("0 cancel");
    expect(one.metrics().retries).toBe(0);
  });
});

describe("sizes of pools", () => {
  it("that make no sense are refused by their name", () => {
    expect(() => pipeline(new FakeClient(), { pools: { run: 0 } })).toThrow(/pools\.run/);
  });
});
