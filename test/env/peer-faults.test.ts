/** Faults of other systems' rewards, resets and isolation, each by its name and smallest input, on sessions that have no real machine. */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { TaskEnvironmentFactory } from "../../src/env/factory.js";
import { loadTask, makeTask } from "../../src/env/task/index.js";
import { checkTasks } from "../../src/rollout/index.js";
import { closePool } from "../../src/verifiers/index.js";
import { HostProvider, hostSandbox } from "../support/host-sandbox/index.js";
import { document, openWorlds, sh } from "./session-support.js";
import { describeOnHost } from "./support.js";

const open = openWorlds();
afterAll(() => closePool());
const folder = mkdtempSync(join(tmpdir(), "shinken-peer-faults-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The graph of the small task without milestones: nothing of it is read before it is graded. */
const unpaid = {
  weighted: document.verify.graph.weighted.map(({ id, channel, query, assert }) => ({
    id,
    channel,
    query,
    assert,
  })),
};
const solve = sh("echo 1 > one; echo 2 > two");

describeOnHost("a task that cannot be graded", () => {
  async function gates(change: Record<string, unknown>) {
    const provider = new HostProvider();
    const report = await checkTasks({ tasks: [makeTask({ ...document, ...change })], provider });
    await provider.close();
    return report.tasks[0];
  }
  it("webarena#246: a gold value that is wrong: the oracle does not pass, and the task check says so", async () => {
    const finding = await gates({ oracle: [sh("echo 1 > one; echo 3 > two")] });
    expect(finding).toMatchObject({
      ok: false,
      failed_gates: expect.arrayContaining(["oracle"]) as string[],
    });
  });
  it("ade-bench#7: an agent that does nothing, or only gives up, is paid: the task check refuses it", async () => {
    const setup = [
      { write: { path: "/home/agent/one", text: "1\n" } },
      { write: { path: "/home/agent/given", text: "given\n" } },
      { exec: { argv: ["sh", "-c", "echo 1 > /home/agent/times"] } },
    ];
    const params = undefined;
    const finding = await gates({ setup, params, instruction: "Write one and two." });
    expect(finding).toMatchObject({
      ok: false,
      failed_gates: expect.arrayContaining(["null", "fail_only"]) as string[],
    });
  });
  it("link rot: an asset of which one byte has flipped ends the reset, before anybody plays what could not be graded", async () => {
    const gold = Buffer.from("gold\n");
    const place = join(folder, "flipped");
    mkdirSync(place);
    writeFileSync(join(place, "gold.txt"), gold);
    const graph = {
      id: "one",
      channel: "fs",
      query: { kind: "text", path: "/home/agent/one" },
      assert: { type: "text", equals: { asset: "gold.txt" } },
    };
    const assets = {
      "gold.txt": { sha256: createHash("sha256").update(gold).digest("hex"), for: "grading" },
    };
    const task = {
      id: "flipped",
      version: "1.0.0",
      instruction: "Write one.",
      verify: { graph },
      assets,
      oracle: [sh("echo gold > one")],
    };
    writeFileSync(join(place, "task.json"), JSON.stringify(task));
    const provider = new HostProvider();
    const play = async () => {
      const factory = new TaskEnvironmentFactory({ provider, tasks: [await loadTask(place)] });
      const session = await factory.create("flipped");
      try {
        await session.reset({ seed: 1 });
        await session.step([sh("echo gold > one")]);
        return (await session.evaluate()).score;
      } finally {
        await session.close();
        factory.close();
      }
    };
    expect(await play()).toBe(1);
    writeFileSync(join(place, "gold.txt"), "gole\n");
    await expect(play()).rejects.toMatchObject({ code: "asset_mismatch", path: "assets.gold.txt" });
    await provider.close();
  });
});

describeOnHost("rewards", () => {
  it("cua worker_server: an exception in evaluate is a reward of 0: it is ungraded, with null, and so counted apart", async () => {
    const { session } = open({
      verify: { prepare: [{ exec: { argv: ["false"] } }], graph: unpaid },
    });
    await session.reset({ seed: 1 });
    expect(await session.evaluate()).toMatchObject({ status: "ungraded", score: null, passed: null });
  });
  it("inspect_ai#3512: an episode that was cut off is graded by its state and its answer, not by what was said", async () => {
    const graph = {
      id: "answer",
      channel: "episode",
      query: { kind: "answer" },
      assert: { type: "text", equals: "42" },
    };
    const { session } = open({
      limits: { steps: 1 },
      verify: { graph },
      oracle: [{ type: "done", answer: "42" }],
    });
    await session.reset({ seed: 1 });
    expect(await session.step([sh("echo the answer is 42")])).toMatchObject({ truncated: true, reward: 0 });
    expect(await session.evaluate()).toMatchObject({ status: "graded", score: 0 });
  });
  it("hud-python#591: files of the episode before give the next agent credit: a reset begins on a fresh fork", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    expect((await session.step([solve])).reward).toBe(3);
    await session.reset({ seed: 1 });
    expect((await session.step([sh("true")])).reward).toBe(0);
    expect(await session.evaluate()).toMatchObject({ status: "graded", score: 0.25 });
  });
});

describeOnHost("resets", () => {
  it("BrowserGym#103, #206, webarena#156: one that fails is tried again on another fork, told of, and bounded", async () => {
    const { session, provider, events } = open();
    await session.reset({ seed: 1 });
    provider.failForks = 1;
    await session.reset({ seed: 1 });
    provider.failForks = 1;
    await session.reset({ seed: 1 });
    expect(events.map(({ event }) => event)).toEqual(["infra", "infra"]);
    provider.failForks = 1_000;
    await expect(session.reset({ seed: 1 })).rejects.toMatchObject({ code: "fork_failed", retry: true });
    expect(provider.failForks).toBeGreaterThan(990);
    provider.failForks = 0;
    await session.reset({ seed: 1 });
    expect((await session.step([solve])).reward).toBe(3);
  });
  it("cua worker_server: a reset of one client releases all others' machines: it touches its own alone", async () => {
    const { session, another } = open();
    const other = another();
    await session.reset({ seed: 1 });
    await other.reset({ seed: 1 });
    await other.step([sh("echo 1 > one")]);
    await session.reset({ seed: 2 });
    expect((await other.step([sh("cat one")])).observation.results[0]?.text).toBe("1");
    await other.close();
  });
  it("webarena#161, visualwebarena#60, WebAgent-R1#6: what one does is in another's backend: siblings share nothing", async () => {
    const { session, another } = open();
    const other = another();
    await session.reset({ seed: 1 });
    await other.reset({ seed: 1 });
    const fresh = await hostSandbox(other.episode().machine).digest();
    await session.step([sh("echo 9 > given; rm times")]);
    expect(await hostSandbox(other.episode().machine).digest()).toBe(fresh);
    await session.reset({ seed: 1 });
    expect(await hostSandbox(session.episode().machine).digest()).toBe(fresh);
    await other.close();
  });
});
