import { expect, it } from "vitest";
import { checkEnv } from "../../src/env/conformance/index.js";
import { describeOnHost } from "./support.js";
import { sh, openWorlds } from "./session-support.js";

const open = openWorlds();

describeOnHost("a session", () => {
  it("keeps the contract of an environment", async () => {
    const { another } = open();
    const report = await checkEnv(() => Promise.resolve(another()), {
      steps: [[sh("ls -A; echo more >> log; cat log")], [sh("cat log")]],
    });
    expect(report.problems).toEqual([]);
  });

  it("gives the instruction with its parameters, and begins where setup ended", async () => {
    const { session } = open();
    const { observation, info } = await session.reset({ seed: 5, params: { times: 42 } });
    expect(observation).toEqual({ instruction: "Write one and two, 42 times.", results: [] });
    expect(info).toMatchObject({ version: "1.0.0", params: { times: 42 }, seed: 5, ready_ms: 1 });
    const step = await session.step([sh("cat given times")]);
    expect(step.observation.results[0]).toMatchObject({ stdout: "given\n42\n" });
  });

  it("draws parameters and the machine's randomness from the seed alone", async () => {
    const { session, another, provider } = open();
    const first = await session.reset({ seed: 9 });
    const twin = another();
    const second = await twin.reset({ seed: 9 });
    await session.reset({ seed: 10 });
    expect(second).toEqual(first);
    // The zero seed is that of the machine on which the golden's own milestones are read.
    const [a, b, c] = provider.seeds.filter((seed) => seed !== "0".repeat(64));
    expect(a).toMatch(/^[0-9a-f]{64}$/);
    expect(b).toBe(a);
    expect(c).not.toBe(a);
    await twin.close();
  });

  it("pays a milestone once, when it first holds, and nothing for what held from the start", async () => {
    const { session, events } = open();
    await session.reset({ seed: 1 });
    expect((await session.step([sh("echo 1 > one")])).reward).toBe(2);
    const again = await session.step([sh("rm one; echo 1 > one")]);
    expect(again.reward).toBe(0);
    expect(again.info).toMatchObject({ earned: [], held: ["given", "one"] });
    expect(events).toEqual([{ event: "milestone", check: "one", reward: 2, step: 1 }]);
  });

  it("takes the reward of a revocable milestone back when it is lost", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    expect((await session.step([sh("echo 2 > two")])).reward).toBe(1);
    const lost = await session.step([sh("rm two")]);
    expect(lost).toMatchObject({ reward: -1, info: { lost: ["two"] } });
  });

  it("grades in a fork: a verdict neither changes the machine nor ends the episode", async () => {
    const { session, provider } = open();
    await session.reset({ seed: 1 });
    await session.step([sh("echo 1 > one")]);
    const before = await session.episode().machine.digest();
    const verdict = await session.evaluate();
    expect(verdict).toMatchObject({ status: "graded", score: 0.75, passed: false });
    expect(await session.episode().machine.digest()).toBe(before);
    expect(provider.forks.every((kind) => kind === "grade")).toBe(true);
    await session.step([sh("echo 2 > two")]);
    expect(await session.evaluate()).toMatchObject({ score: 1, passed: true });
  });

  it("terminates on done and on fail, and refuses steps after the end", async () => {
    const { session } = open();
    for (const end of [
      { type: "done", answer: "x" },
      { type: "fail", reason: "no" },
    ]) {
      await session.reset({ seed: 1 });
      expect(await session.step([sh("true"), end])).toMatchObject({ terminated: true, truncated: false });
      await expect(session.step([sh("true")])).rejects.toMatchObject({ code: "episode_over" });
    }
  });

  it("truncates at the step limit, but not a step that ends the episode", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    for (let step = 1; step < 5; step += 1) expect((await session.step([sh("true")])).truncated).toBe(false);
    expect(await session.step([sh("true")])).toMatchObject({
      truncated: true,
      terminated: false,
      info: { truncated_by: "steps" },
    });
    await expect(session.step([sh("true")])).rejects.toMatchObject({ code: "episode_over" });
    await session.reset({ seed: 1 });
    for (let step = 1; step < 5; step += 1) await session.step([sh("true")]);
    expect(await session.step([{ type: "done" }])).toMatchObject({ truncated: false, terminated: true });
  });

  it("truncates when the machine's time is used up, and does none of the actions after that", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    const result = await session.step([{ type: "wait", seconds: 100 }, sh("echo late > late")]);
    expect(result).toMatchObject({ truncated: true, info: { truncated_by: "guest_seconds" } });
    expect(result.observation.results).toHaveLength(1);
    expect(
      await session
        .episode()
        .machine.statIfExists("/home/agent/late")
        .catch(() => null),
    ).toBeNull();
  });

  it("truncates when the instructions are used up", async () => {
    const { session } = open({ limits: { agent: { instructions: 2_000 } } });
    await session.reset({ seed: 1 });
    expect((await session.step([sh("true")])).truncated).toBe(false);
    expect(await session.step([sh("true")])).toMatchObject({
      truncated: true,
      info: { truncated_by: "instructions" },
    });
  });

  it("refuses a whole step for one action that is wrong or not granted, and does nothing of it", async () => {
    const { session } = open({ capabilities: { agent: ["files"] } });
    await session.reset({ seed: 1 });
    const before = await session.episode().machine.digest();
    const write = { type: "write_file", path: "x", content: "" };
    await expect(session.step([write, sh("true")])).rejects.toMatchObject({
      code: "capability_denied",
      path: "actions[1].type",
    });
    await expect(session.step([write, { type: "wait" }])).rejects.toMatchObject({
      code: "bad_action",
      path: "actions[1].seconds",
    });
    expect(await session.episode().machine.digest()).toBe(before);
    expect((await session.step([write])).info).toMatchObject({ step: 1 });
  });

  it("branches: both go on from the same state and do not see each other", async () => {
    const { session } = open();
    await session.reset({ seed: 1 });
    await session.step([sh("echo 1 > one")]);
    const branch = await session.fork();
    expect((await branch.step([sh("cat one; echo 2 > two")])).info).toMatchObject({
      step: 2,
      held: ["given", "one", "two"],
    });
    expect((await session.step([sh("ls two")])).observation.results[0]).toMatchObject({ exit_code: 2 });
    expect(await branch.evaluate()).toMatchObject({ score: 1 });
    expect(await session.evaluate()).toMatchObject({ score: 0.75 });
    await branch.close();
    expect(await session.evaluate()).toMatchObject({ score: 0.75 });
  });

  it("continues its seed over further resets, as Gymnasium's generator does", async () => {
    const { session, another } = open();
    const twin = another();
    const infos: unknown[][] = [];
    for (const one of [session, twin]) {
      await one.reset({ seed: 3 });
      infos.push([(await one.reset()).info["params"], (await one.reset()).info["params"]]);
    }
    expect(infos[0]).toEqual(infos[1]);
    expect(infos[0]?.[0]).not.toEqual(infos[0]?.[1]);
    await twin.close();
  });

  it("tells about loops, and again only when they have doubled", async () => {
    const { session, events } = open({ limits: { steps: 50 } });
    await session.reset({ seed: 1 });
    for (let step = 0; step < 7; step += 1) await session.step([sh("ls nowhere")]);
    expect(events).toEqual([
      expect.objectContaining({ event: "progress", kind: "loop", step: 3, repeats: 3 }),
      expect.objectContaining({ event: "progress", kind: "loop", step: 6, repeats: 6 }),
    ]);
  });

  it("calls it no loop if the same action brings something new", async () => {
    const { session, events } = open({ limits: { steps: 50 } });
    await session.reset({ seed: 1 });
    for (let step = 0; step < 4; step += 1) await session.step([sh("echo x >> log; wc -l log")]);
    expect(events).toEqual([]);
  });
});
