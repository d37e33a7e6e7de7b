/** Graders that would not end by themselves: what the task's limits, a cancel and a close make of them on real machines. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TaskEnvironmentFactory } from "../../src/env/factory.js";
import type { Environment } from "../../src/env/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import { closePool } from "../../src/verifiers/index.js";
import { endless, spinning } from "../support/endless-grader.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
const poll = { timeout: 60_000 };
afterAll(() => closePool());

describe.skipIf(unavailable !== null)("a grader that does not end", () => {
  const sessions: Environment[] = [];
  const factories: TaskEnvironmentFactory[] = [];
  let machines = 0;
  beforeAll(() => {
    machines = loadAddon().engineStats().machines;
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close();
    for (const factory of factories.splice(0)) factory.close();
    expect(loadAddon().engineStats()).toMatchObject({ machines, running: 0 });
    // A golden that was just loaded may still be decoding its code.
    await expect.poll(() => loadAddon().engineStats(), poll).toMatchObject({ inFlight: 0 });
  });

  async function started(change: Record<string, unknown>): Promise<Environment> {
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(endless(change))] });
    factories.push(factory);
    const session = await factory.create("endless");
    sessions.push(session);
    await session.reset({ seed: 1 });
    return session;
  }

  /** Waits until the grade fork is there and computes. */
  const computing = () =>
    expect.poll(() => loadAddon().engineStats(), poll).toMatchObject({ machines: machines + 2, running: 1 });

  /** A milestone that does not hold in the golden, and computes for ever once the agent has made the file `go`. */
  const spinningWhereGo = () => {
    const slow = spinning("slow", { milestone: true });
    slow.query.argv = ["/bin/sh", "-c", "test -e /home/agent/go && while :; do :; done; exit 1"];
    return slow;
  };

  it.each([
    [{ instructions: 80_000_000 }, "80000000 instructions"],
    [{ guest_seconds: 0.2 }, "0.2 s of machine time"],
  ])(
    "is stopped at its limit %o, and the verdict is ungraded, whatever on_error says",
    async (verify, what) => {
      const session = await started({ limits: { verify } });
      const verdict = await session.evaluate();
      expect(verdict).toMatchObject({
        status: "ungraded",
        score: null,
        passed: null,
        reason: `timeout: grading needs more than ${what}`,
      });
      expect(verdict.checks.map(({ id, status }) => [id, status])).toEqual([
        ["first", "passed"],
        ["spins", "ungraded"],
        ["after", "ungraded"],
      ]);
      expect(verdict.checks[1]?.evidence).toMatch(/^timeout: /);
      expect(verdict.checks[1]?.evidence).toContain(what);
      expect(verdict.checks[2]?.evidence).toContain("is used up");
      expect(await session.step([{ type: "exec", command: "echo on" }])).toMatchObject({
        observation: { results: [{ text: "on" }] },
      });
    },
  );

  it("in a fork of its own uses the same budget as the others", async () => {
    const session = await started({
      limits: { verify: { instructions: 80_000_000 } },
      verify: { graph: { all: [spinning("one", { mutates: true }), spinning("two", { mutates: true })] } },
    });
    const verdict = await session.evaluate();
    expect(verdict.reason).toBe("timeout: grading needs more than 80000000 instructions");
    expect(verdict.checks[1]?.evidence).toContain("is used up");
  });

  it("as a milestone pays nothing, and the step comes to its end", async () => {
    const session = await started({
      limits: { verify: { instructions: 80_000_000 } },
      verify: { graph: spinningWhereGo() },
    });
    const step = await session.step([{ type: "exec", command: "touch go" }]);
    expect(step).toMatchObject({ reward: 0, terminated: false, info: { ungraded: ["slow"] } });
  });

  it("as a milestone that computes for ever already in the golden fails the reset as the harness's fault", async () => {
    const session = started({
      limits: { verify: { instructions: 80_000_000 } },
      verify: { graph: spinning("spins", { milestone: true }) },
    });
    await expect(session).rejects.toMatchObject({ code: "machine_timeout", retry: true });
  });

  it("is stopped and its machine closed when evaluate is cancelled, and the session goes on", async () => {
    const session = await started({});
    const grading = expect(session.evaluate()).rejects.toMatchObject({ code: "cancelled" });
    await computing();
    session.cancel();
    await grading;
    await expect
      .poll(() => loadAddon().engineStats(), poll)
      .toMatchObject({ machines: machines + 1, running: 0, inFlight: 0 });
    expect(await session.step([{ type: "exec", command: "echo on" }])).toMatchObject({
      observation: { results: [{ text: "on" }] },
    });
  });

  it("is stopped when it hangs in verify.prepare", async () => {
    const prepare = [{ exec: { argv: ["sh", "-c", "while :; do :; done"], timeout_s: 3_000 } }];
    const { verify } = endless();
    const session = await started({ verify: { ...verify, prepare } });
    const grading = expect(session.evaluate()).rejects.toMatchObject({ code: "cancelled" });
    await computing();
    session.cancel();
    await grading;
    await expect.poll(() => loadAddon().engineStats().machines, poll).toBe(machines + 1);
  });

  it("is stopped, as a milestone, when the step is cancelled; nothing is paid", async () => {
    const session = await started({ verify: { graph: spinningWhereGo() } });
    const step = session.step([{ type: "exec", command: "touch go" }]);
    const cancelled = expect(step).rejects.toMatchObject({ code: "cancelled" });
    await computing();
    session.cancel();
    await cancelled;
    await expect.poll(() => loadAddon().engineStats().machines, poll).toBe(machines + 1);
    const next = await session.step([{ type: "exec", command: "rm go" }]);
    expect(next).toMatchObject({ info: { step: 1 } });
  });

  it("is stopped when a step that declares the end is cancelled: the episode goes on, and may be ended again", async () => {
    const session = await started({ verify: { graph: spinningWhereGo() } });
    const step = session.step([
      { type: "exec", command: "touch go" },
      { type: "done", answer: "early" },
    ]);
    const cancelled = expect(step).rejects.toMatchObject({ code: "cancelled" });
    await computing();
    session.cancel();
    await cancelled;
    expect(await session.step([{ type: "exec", command: "rm go" }])).toMatchObject({
      terminated: false,
      info: { step: 1 },
    });
    expect(await session.step([{ type: "done" }])).toMatchObject({ terminated: true, info: { step: 2 } });
    await expect(session.step([{ type: "done" }])).rejects.toMatchObject({ code: "episode_over" });
  });

  it("is stopped, as a milestone, when the wall-clock net ends the episode", async () => {
    const limits = { agent: { wall_seconds: 3 }, verify: { wall_seconds: 600, guest_seconds: 600 } };
    const session = await started({ limits, verify: { graph: spinningWhereGo() } });
    await expect(session.step([{ type: "exec", command: "touch go" }])).rejects.toMatchObject({
      code: "machine_timeout",
    });
    await expect.poll(() => loadAddon().engineStats(), poll).toMatchObject({ machines, running: 0 });
  });

  it("is gone once the session is closed", async () => {
    const session = await started({});
    const grading = expect(session.evaluate()).rejects.toMatchObject({ code: "cancelled" });
    await computing();
    await session.close();
    await grading;
    expect(loadAddon().engineStats()).toMatchObject({ machines, running: 0 });
    // A golden that was just loaded may still be decoding its code.
    await expect.poll(() => loadAddon().engineStats(), poll).toMatchObject({ inFlight: 0 });
  });
});
