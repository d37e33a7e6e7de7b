/** The task of `docs/scorers.md`, played and graded on a real machine. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadTasks, TaskEnvironmentFactory } from "../../src/env/index.js";
import { checkTasks } from "../../src/rollout/index.js";
import { publishedScorers } from "../../src/suites/index.js";
import { closePool } from "../../src/verifiers/index.js";
import { root } from "../support/cli.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(closePool);

const page = readFileSync(join(root, "docs", "scorers.md"), "utf8");
const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];

/** Loads the page's task as the commands load theirs. */
async function load() {
  const folder = mkdtempSync(join(tmpdir(), "shinken-scorers-"));
  try {
    writeFileSync(join(folder, "task.yaml"), yaml);
    return await loadTasks(folder, { scorers: publishedScorers });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.skipIf(unavailable !== null)("published scorers on a real machine", () => {
  it.each([
    ["as the oracle leaves it", "717,710", 1, ["passed", "passed"]],
    ["with a wrong answer", "289330", 0.25, ["failed", "passed"]],
  ])("grade it %s", async (_, said, score, statuses) => {
    const { tasks } = await load();
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks });
    const session = await factory.create("demo/largest-city");
    try {
      await session.reset({ seed: 1 });
      const [write] = tasks[0]?.variant().task.oracle ?? [];
      await session.step([write, { type: "done", answer: said }]);
      const verdict = await session.evaluate();
      expect(verdict).toMatchObject({ status: "graded", score });
      expect(verdict.checks.map(({ status }) => status)).toEqual(statuses);
    } finally {
      await session.close();
      factory.close();
    }
  });

  it("make a task that passes every gate", async () => {
    const { tasks } = await load();
    const report = await checkTasks({ tasks, provider: provider() });
    expect(report.tasks.flatMap(({ problems }) => problems)).toEqual([]);
    expect(report.ok).toBe(true);
  });

  it("find nothing to score where the agent did nothing", async () => {
    const { tasks } = await load();
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks });
    const session = await factory.create("demo/largest-city");
    try {
      await session.reset({ seed: 1 });
      expect(await session.evaluate()).toMatchObject({ status: "graded", score: 0 });
    } finally {
      await session.close();
      factory.close();
    }
  });
});
