import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { loadTasks } from "../../src/env/index.js";
import { checkTasks } from "../../src/rollout/index.js";
import { closePool } from "../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";

const folder = fileURLToPath(new URL("../../tasks/demo", import.meta.url));
const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

describe("the demo tasks", () => {
  it("are at least eight, two of them with parameters, one to refuse and one to ask back about", async () => {
    const { tasks } = await loadTasks(folder);
    expect(tasks.length).toBeGreaterThanOrEqual(8);
    expect(tasks.filter(({ paramSpecs }) => Object.keys(paramSpecs).length > 0)).toHaveLength(2);
    const expected = tasks.map((task) => task.variant().task.expect);
    expect(expected).toContain("refuse");
    expect(expected).toContain("ask");
    for (const task of tasks) expect(task.variant().task.human, task.id).toBeDefined();
  });

  it.skipIf(unavailable !== null)(
    "pass the gates on real machines",
    async () => {
      const { tasks } = await loadTasks(folder);
      const report = await checkTasks({ tasks, provider: provider(), variants: 2 });
      expect(
        report.tasks.flatMap(({ id, problems }) => problems.map((problem) => `${id}: ${problem}`)),
      ).toEqual([]);
      expect(report.ok).toBe(true);
      // Also of those to refuse: to give up without having looked is worth nothing.
      for (const { id, fail_only } of report.tasks) expect([id, fail_only]).toEqual([id, 0]);
      expect(provider().openMachines()).toBe(0);
    },
    900_000,
  );
});
