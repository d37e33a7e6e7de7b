import { expect, it } from "vitest";
import { checkEnv } from "../../src/env/conformance/index.js";
import { document, openWorlds, sh } from "./session-support.js";
import { describeOnHost } from "./support.js";

const open = openWorlds();

const words = (more: object = {}) => ({
  id: "words",
  channel: "fs",
  milestone: true,
  dense: true,
  weight: 4,
  query: { kind: "text", path: "/home/agent/words" },
  assert: { type: "text", contains: ["a", "b", "c", "d"], partial: true },
  ...more,
});
const world = (more: object = {}, setup: object[] = []) =>
  open({ verify: { graph: { all: [words(more)] } }, setup: [...document.setup, ...setup] });

describeOnHost("a dense milestone", () => {
  it("pays for each step's growth, and in all its weight", async () => {
    const { session, events } = world();
    await session.reset({ seed: 1 });
    const rewards: number[] = [];
    for (const command of ["echo a > words", "true", "echo a b c > words", "echo a b c d > words", "true"])
      rewards.push((await session.step([sh(command)])).reward);
    expect(rewards).toEqual([1, 0, 2, 1, 0]);
    expect(events.filter(({ event }) => event === "milestone")).toEqual([
      { event: "milestone", check: "words", reward: 1, step: 1, partial: true },
      { event: "milestone", check: "words", reward: 2, step: 3, partial: true },
      { event: "milestone", check: "words", reward: 1, step: 4 },
    ]);
  });

  it("pays nothing twice: what is lost and found again was paid", async () => {
    const { session } = world();
    await session.reset({ seed: 1 });
    const rewards: number[] = [];
    for (const command of ["echo a b > words", "rm words", "echo a b > words", "echo a b c > words"])
      rewards.push((await session.step([sh(command)])).reward);
    expect(rewards).toEqual([2, 0, 0, 1]);
  });

  it("that can be lost takes back what it paid, so that going in circles pays nothing", async () => {
    const { session } = world({ revocable: true });
    await session.reset({ seed: 1 });
    const rewards: number[] = [];
    for (const command of [
      "echo a b > words",
      "echo a > words",
      "echo a b c d > words",
      "echo a > words",
      "rm words",
    ])
      rewards.push((await session.step([sh(command)])).reward);
    expect(rewards).toEqual([2, -1, 3, -3, -1]);
  });

  it("pays nothing for what the golden holds", async () => {
    const { session } = world({}, [{ write: { path: "/home/agent/words", text: "a\n" } }]);
    await session.reset({ seed: 1 });
    expect((await session.step([sh("true")])).reward).toBe(0);
    expect((await session.step([sh("echo a b c d > words")])).reward).toBe(3);
  });

  it("goes on in a branch from what was paid", async () => {
    const { session } = world();
    await session.reset({ seed: 1 });
    await session.step([sh("echo a b > words")]);
    const branch = await session.fork();
    expect((await branch.step([sh("echo a b c > words")])).reward).toBe(1);
    expect((await session.step([sh("echo a b c d > words")])).reward).toBe(2);
    await branch.close();
  });

  it("keeps the contract of an environment", async () => {
    const { another } = world();
    const report = await checkEnv(() => Promise.resolve(another()), { steps: [[sh("echo a >> words")]] });
    expect(report.problems).toEqual([]);
  });

  it("says with each step how long its milestones took to read", async () => {
    const { session } = world();
    await session.reset({ seed: 1 });
    expect((await session.step([sh("true")])).info["grading_ms"]).toBeGreaterThan(0);
    await session.step([sh("echo a b c d > words")]);
    expect((await session.step([sh("true")])).info).not.toHaveProperty("grading_ms");
  });
});
