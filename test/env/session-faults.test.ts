import { expect, it } from "vitest";
import { checkEnv } from "../../src/env/conformance/index.js";
import { TaskEnvironmentFactory } from "../../src/env/factory.js";
import { makeTask } from "../../src/env/task/index.js";
import { HostProvider, hostSandbox } from "../support/host-sandbox/index.js";
import { describeOnHost } from "./support.js";
import { document, sh, openWorlds } from "./session-support.js";

const open = openWorlds();

/** The graph of the small task without milestones: nothing of it is read before it is graded. */
const unpaid = {
  weighted: document.verify.graph.weighted.map(({ id, channel, query, assert, weight }) => ({
    id,
    channel,
    query,
    assert,
    weight,
  })),
};

describeOnHost("when the machine fails", () => {
  it("a dead machine is an infra event and an error, never a reward; a reset begins anew", async () => {
    const { session, events } = open();
    await session.reset({ seed: 1 });
    hostSandbox(session.episode().machine).kill();
    await expect(session.step([sh("true")])).rejects.toMatchObject({ code: "machine_died" });
    expect(events).toEqual([expect.objectContaining({ event: "infra", code: "machine_died" })]);
    await expect(session.step([sh("true")])).rejects.toMatchObject({ code: "machine_died" });
    expect(await session.evaluate()).toMatchObject({
      status: "ungraded",
      score: null,
      passed: null,
      reason: expect.stringContaining("machine_died") as string,
    });
    await session.reset({ seed: 1 });
    expect((await session.step([sh("echo 1 > one")])).reward).toBe(2);
  });

  it("a machine that dies before it is graded leaves the verdict ungraded", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    hostSandbox(session.episode().machine).kill("agent_protocol");
    expect(await session.evaluate()).toMatchObject({
      status: "ungraded",
      score: null,
      reason: expect.stringContaining("agent_protocol") as string,
    });
  });

  it("a fork that fails is replaced, and told of; after three the reset fails", async () => {
    const { session, provider, events } = open();
    await session.reset({ seed: 1 });
    provider.failForks = 2;
    await session.reset({ seed: 1 });
    expect(events.map(({ event }) => event)).toEqual(["infra", "infra"]);
    provider.failForks = 3;
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject({ code: "fork_failed", retry: true });
    await expect(session.step([sh("true")])).rejects.toMatchObject({ code: "not_reset" });
    await session.reset({ seed: 1 });
  });

  it("a host without memory for another machine refuses the fork, and the episode's own machine lives on", async () => {
    const { session, provider, events } = open();
    await session.reset({ seed: 1 });
    provider.failCode = "out_of_memory";
    provider.failForks = 1;
    await expect(session.fork()).rejects.toMatchObject({ code: "out_of_memory", retry: true });
    provider.failForks = 9;
    expect(await session.evaluate()).toMatchObject({ status: "ungraded", score: null, passed: null });
    expect(await session.step([sh("echo 1 > one")])).toMatchObject({ reward: 0, terminated: false });
    provider.failForks = 0;
    expect(await session.step([sh("true")])).toMatchObject({ reward: 2, info: { earned: ["one"] } });
    expect(await session.evaluate()).toMatchObject({ status: "graded" });
    expect(events.filter(({ event }) => event === "infra")).toEqual([]);
  });

  it("milestones that cannot be read pay nothing now and are read again after the next step", async () => {
    const { session, provider } = open();
    await session.reset({ seed: 1 });
    provider.failForks = 2;
    const blind = await session.step([sh("echo 1 > one")]);
    expect(blind).toMatchObject({ reward: 0, terminated: false, info: { ungraded: ["one", "two"] } });
    expect(await session.step([sh("true")])).toMatchObject({ reward: 2, info: { earned: ["one"] } });
  });

  it("milestones that cannot be read in the golden fail the reset, and what holds there is never paid for", async () => {
    const { session, provider } = open();
    provider.failKind = "grade";
    provider.failForks = 2;
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject({
      code: "fork_failed",
      retry: true,
      message: expect.stringContaining("milestones that hold from the start cannot be read") as string,
    });
    expect(provider.openMachines()).toBe(0);
    await session.reset({ seed: 1 });
    expect(await session.step([sh("true")])).toMatchObject({ reward: 0, info: { held: ["given"] } });
  });

  it("a golden in which a milestone has no proper value yet is no fault of the harness", async () => {
    const check = {
      id: "number",
      channel: "fs",
      milestone: true,
      query: { kind: "number", path: "/home/agent/given" },
      assert: { type: "number", equals: 7 },
    };
    const { session } = open({ verify: { graph: check } });
    await session.reset({ seed: 1 });
    expect((await session.step([sh("echo 7 > given")])).reward).toBe(1);
  });

  it("the wall-clock net ends the episode as an infra failure, never as truncated", async () => {
    const { session, events } = open({ limits: { agent: { wall_seconds: 0.3 } } });
    await session.reset({ seed: 1 });
    await expect(session.step([{ type: "exec", command: "sleep 30" }])).rejects.toMatchObject({
      code: "machine_timeout",
    });
    expect(events).toContainEqual(expect.objectContaining({ event: "infra", code: "machine_timeout" }));
    expect(await session.evaluate()).toMatchObject({ status: "ungraded" });
  });

  it.each([
    {
      limits: { verify: { instructions: 1 } },
      said: "timeout: grading needs more than 1 instructions",
    },
    {
      limits: { verify: { guest_seconds: 0.0005 } },
      said: "timeout: grading needs more than 0.0005 s of machine time",
    },
  ])("a grader that outruns its own budget is ungraded: $said", async ({ limits, said }) => {
    const { session } = open({ limits, verify: { graph: unpaid } });
    await session.reset({ seed: 1 });
    expect(await session.evaluate()).toMatchObject({
      status: "ungraded",
      score: null,
      passed: null,
      reason: said,
    });
  });

  it("steps of verify.prepare count as grading: what uses up the budget there leaves the verdict ungraded", async () => {
    const prepare = [{ exec: { argv: ["sleep", "10"], timeout_s: 6 } }];
    const { session, provider } = open({
      limits: { verify: { guest_seconds: 5 } },
      verify: { graph: unpaid, prepare },
    });
    await session.reset({ seed: 1 });
    expect(await session.evaluate()).toMatchObject({
      status: "ungraded",
      reason: "timeout: grading needs more than 5 s of machine time",
    });
    expect(provider.openMachines()).toBe(1);
  });

  it("setup that fails names its step, is not kept as a golden, and leaves nothing open", async () => {
    const setup = [
      { write: { path: "/home/agent/a", text: "" } },
      { exec: { argv: ["sh", "-c", "echo wrong >&2; exit 4"] } },
    ];
    const { session, provider } = open({ setup, params: {}, instruction: "x", ready: [] });
    const wanted = {
      code: "setup_failed",
      path: "setup[1]",
      message: "setup[1]: sh gave exit code 4: wrong",
    };
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject(wanted);
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject(wanted);
    expect(provider.openMachines()).toBe(0);
    expect(provider.setups).toHaveLength(2);
  });

  it("readiness that does not come is a setup failure after its deadline in machine time", async () => {
    const { session } = open({ ready: [{ file: "/home/agent/never", deadline_s: 2 }] });
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject({
      code: "setup_failed",
      path: "ready[0]",
      message: expect.stringContaining("no /home/agent/never") as string,
    });
  });
});

describeOnHost("when the client is careless", () => {
  it("a second request while one runs is told to come again", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    const running = session.step([sh("sleep 0.2")]);
    await expect(session.evaluate()).rejects.toMatchObject({ code: "session_busy", retry: true });
    expect((await running).info).toMatchObject({ step: 1 });
  });

  it("a cancelled step rejects at once, its command is killed, and the episode goes on from there", async () => {
    const { session, events } = open();
    await session.reset({ seed: 1 });
    const running = session.step([sh("echo 1 > one; touch begun; sleep 60; touch late"), sh("echo 2 > two")]);
    const rejected = expect(running).rejects.toMatchObject({ code: "cancelled", retry: true });
    await expect.poll(() => session.episode().machine.statIfExists("/home/agent/begun")).not.toBeNull();
    session.cancel();
    await rejected;
    const next = await session.step([sh("ls one two late")]);
    expect(next.observation.results[0]).toMatchObject({ stdout: "one\n" });
    expect(next.info).toMatchObject({ earned: ["one"] });
    expect(events.map(({ event }) => event)).toEqual(["milestone"]);
  });

  it("a cancelled step uses up no number and no step of the limit, for its branches too", async () => {
    const { session, events } = open();
    await session.reset({ seed: 1 });
    await session.step([sh("true")]);
    for (const round of [1, 2]) {
      const running = session.step([sh(`touch begun-${round}; sleep 60`)]);
      const rejected = expect(running).rejects.toMatchObject({ code: "cancelled" });
      await expect
        .poll(() => session.episode().machine.statIfExists(`/home/agent/begun-${round}`))
        .not.toBeNull();
      session.cancel();
      await rejected;
    }
    const branch = await session.fork();
    expect((await branch.step([sh("true")])).info).toMatchObject({ step: 2 });
    await branch.close();
    expect((await session.step([sh("echo 1 > one")])).info).toMatchObject({ step: 2 });
    expect(events).toEqual([expect.objectContaining({ event: "milestone", step: 2 })]);
    for (const step of [3, 4]) expect((await session.step([sh("true")])).info).toMatchObject({ step });
    expect(events.at(-1)).toMatchObject({ event: "milestone", check: "one", step: 2 });
    const last = await session.step([sh("true")]);
    expect(last).toMatchObject({ truncated: true, info: { step: 5, truncated_by: "steps" } });
  });

  it("closing in the middle of a step or of a reset frees the machine", async () => {
    const { session, another, provider } = open();
    await session.reset({ seed: 1 });
    const step = session.step([sh("sleep 30")]);
    const stepped = expect(step).rejects.toThrow();
    await session.close();
    await stepped;
    const other = another();
    const reset = other.reset({ seed: 1 });
    const wasReset = expect(reset).rejects.toThrow();
    await other.close();
    await wasReset;
    expect(provider.openMachines()).toBe(0);
    await expect(session.reset()).rejects.toMatchObject({ code: "machine_closed" });
  });

  it("parameters out of range are refused by name", async () => {
    const { session } = open();
    await expect(session.reset({ params: { times: 0 } })).rejects.toMatchObject({
      code: "bad_request",
      path: "params.times",
    });
    await expect(session.reset({ params: { tims: 1 } })).rejects.toMatchObject({
      suggestion: 'did you mean "times"?',
    });
  });
});

describeOnHost("the factory", () => {
  it("names its tasks, finds misspelt ones, and makes one golden for many sessions", async () => {
    const provider = new HostProvider();
    const factory = new TaskEnvironmentFactory({ provider, tasks: [makeTask(document)] });
    expect(factory.tasks()).toMatchObject([{ id: "two-files", version: "1.0.0" }]);
    await expect(factory.create("two-fils")).rejects.toMatchObject({
      code: "unknown_task",
      suggestion: 'did you mean "two-files"?',
    });
    const bare = new TaskEnvironmentFactory({ provider, tasks: [] });
    await expect(bare.create("two-files")).rejects.toMatchObject({
      code: "unknown_task",
      suggestion: expect.stringContaining("--tasks DIR") as string,
    });
    bare.close();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => factory.create("two-files")));
    await Promise.all(sessions.map((session) => session.reset({ params: { times: 3 } })));
    expect(provider.setups).toHaveLength(1);
    for (const session of sessions) await session.close();
    factory.close();
    expect(provider.openMachines()).toBe(0);
    await provider.close();
    expect(provider.goldens).toBe(0);
  });

  it("keeps no more unused goldens than it is told", async () => {
    const provider = new HostProvider();
    const factory = new TaskEnvironmentFactory({ provider, tasks: [makeTask(document)], maxIdleGoldens: 2 });
    const session = await factory.create("two-files");
    for (const times of [1, 2, 3, 4, 5]) await session.reset({ params: { times } });
    await session.close();
    expect(provider.goldens).toBe(2);
    factory.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(provider.goldens).toBe(0);
    await provider.close();
  });

  it("makes plain sandboxes, which are not graded", async () => {
    const provider = new HostProvider();
    const factory = new TaskEnvironmentFactory({ provider, tasks: [] });
    const sandbox = await factory.createSandbox("shell");
    await sandbox.reset();
    const step = await sandbox.step([sh("pwd"), { type: "shell", command: "cd /tmp; pwd" }]);
    expect(step.observation.results.map(({ text }) => text)).toEqual(["/home/agent", "/tmp"]);
    expect(step).toMatchObject({ reward: 0, terminated: false, truncated: false });
    expect(await sandbox.evaluate()).toMatchObject({ status: "ungraded", score: null, passed: null });
    await sandbox.close();
    const report = await checkEnv(() => factory.createSandbox("shell"), { steps: [[sh("ls")]] });
    expect(report.problems).toEqual([]);
    factory.close();
    await provider.close();
  });
});
