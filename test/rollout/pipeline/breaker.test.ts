import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../../src/errors/index.js";
import { type BreakerOptions, CircuitBreaker, Pipeline } from "../../../src/rollout/index.js";
import { dies, FakeClient, job } from "./support.js";

const many = (count: number) => Array.from({ length: count }, (_, replica) => replica);

function play(client: FakeClient, count: number, breaker: BreakerOptions) {
  const pools = { init: 1, run: 1, verify: 1 };
  const pipeline = new Pipeline({ client, pools, machines: 1, retries: 0, breaker });
  return {
    pipeline,
    outcomes: Promise.all(many(count).map((replica) => pipeline.play(job(replica)))),
  };
}

describe("the circuit breaker", () => {
  it("opens when sandboxes of an image keep failing, and closes after a probe that lives", async () => {
    // Four die, the first probe as well, then all is well.
    const client = new FakeClient((index) => (index < 4 ? { reset: dies } : {}));
    const { pipeline, outcomes } = play(client, 10, { threshold: 3, cooldownMs: 1 });
    const stages = (await outcomes).map(({ stage }) => stage);
    expect(stages.filter((stage) => stage === "init")).toHaveLength(4);
    expect(stages.filter((stage) => stage === null)).toHaveLength(6);
    expect(pipeline.metrics().breakers).toEqual([
      { key: "shell", state: "closed", opened: 1, why: ["machine_died: kernel panic"] },
    ]);
  });

  it("tells those who wait why, after too many probes that died, and makes no more sandboxes", async () => {
    const client = new FakeClient(() => ({ reset: dies }));
    const { pipeline, outcomes } = play(client, 50, {
      threshold: 3,
      cooldownMs: 1,
      longestCooldownMs: 1,
      probes: 2,
    });
    const reasons = (await outcomes).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === "machine_died: kernel panic").length).toBeLessThan(10);
    expect(reasons).toContain("circuit_open: sandboxes of shell keep failing: machine_died: kernel panic");
    expect(client.created).toBeLessThan(10);
    expect(pipeline.metrics().breakers).toMatchObject([{ state: "open", opened: 1 }]);
    pipeline.close();
  });

  it("closes at the probe's first answered step, so that nobody waits for the end of its episode", async () => {
    let finish: () => void = () => undefined;
    const client = new FakeClient((index) => {
      if (index < 3) return { reset: dies };
      if (index > 3) return {};
      // The probe: its second step waits until the others are over.
      return {
        step: (number) =>
          number === 2
            ? new Promise((resolve) => {
                finish = () => resolve(undefined);
              })
            : Promise.resolve(undefined),
      };
    });
    const pipeline = new Pipeline({
      client,
      pools: { init: 2, run: 2, verify: 2 },
      retries: 0,
      breaker: { threshold: 3, cooldownMs: 1 },
    });
    const playing = many(8).map((replica) => pipeline.play(job(replica)));
    let over = 0;
    for (const one of playing) void one.then(() => (over += 1));
    while (over < 7) await new Promise((resolve) => setImmediate(resolve));
    finish();
    const outcomes = await Promise.all(playing);
    expect(outcomes.filter(({ status }) => status === "graded")).toHaveLength(5);
  });

  it("does not open for a task whose own setup fails, nor for failures with successes between them", async () => {
    const setup = () => Promise.reject(new ShinkenError("setup_failed", "no such package"));
    const failing = play(new FakeClient(() => ({ reset: setup })), 10, { threshold: 3 });
    expect((await failing.outcomes).map(({ stage }) => stage)).toEqual(many(10).map(() => "init"));
    expect(failing.pipeline.metrics().breakers).toEqual([]);
    const mixed = play(new FakeClient((index) => (index % 3 === 0 ? {} : { step: dies })), 12, {
      threshold: 3,
    });
    await mixed.outcomes;
    expect(mixed.pipeline.metrics().breakers).toEqual([]);
  });

  it("lets the next one probe where a probe ended without a word on its sandbox", async () => {
    const breaker = new CircuitBreaker({ threshold: 1, cooldownMs: 1 });
    (await breaker.admit("shell")).failed("died");
    const [first, second] = [breaker.admit("shell"), breaker.admit("shell")];
    const probe = await first;
    expect(probe.probe).toBe(true);
    probe.end();
    const next = await second;
    expect(next.probe).toBe(true);
    next.sound();
    expect((await breaker.admit("shell")).probe).toBe(false);
    expect(breaker.states()).toMatchObject([{ state: "closed", why: ["died"] }]);
    // Another image was never part of it.
    expect((await breaker.admit("desktop")).probe).toBe(false);
  });

  it("takes who is cancelled out of those who wait", async () => {
    const breaker = new CircuitBreaker({ threshold: 1, cooldownMs: 60_000 });
    (await breaker.admit("shell")).failed("died");
    const stop = new AbortController();
    const waiting = breaker.admit("shell", stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    breaker.close();
  });

  it("says that leave given before it opened is stale", async () => {
    const breaker = new CircuitBreaker({ threshold: 1, cooldownMs: 60_000 });
    const [early, failing] = [await breaker.admit("shell"), await breaker.admit("shell")];
    expect(early.stale).toBe(false);
    failing.failed("died");
    expect(early.stale).toBe(true);
    breaker.close();
  });
});
