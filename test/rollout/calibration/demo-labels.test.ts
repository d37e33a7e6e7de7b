import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { loadTasks } from "../../../src/env/index.js";
import {
  agreements,
  casesOfStates,
  gradeStates,
  loadCorpus,
} from "../../../src/rollout/calibration/index.js";
import { closePool } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile } from "../../support/machine.js";

const path = (name: string) => fileURLToPath(new URL(`../../../tasks/${name}`, import.meta.url));
const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

describe("the labelled end states of the demo tasks", () => {
  it("are at least 120: right, wrong and arguable ones of every task, each with a reason of its own", async () => {
    const { states, tasks } = await loadCorpus(path("demo-labels"));
    expect(tasks).toBe(path("demo"));
    expect(states.length).toBeGreaterThanOrEqual(120);
    for (const { id } of (await loadTasks(path("demo"))).tasks) {
      const own = states.filter(({ task }) => task === id);
      expect([id, new Set(own.map(({ label }) => label))]).toEqual([
        id,
        new Set(["right", "nearly", "wrong"]),
      ]);
      // Two states reached in one way would be one state counted twice.
      const ways = own.map(({ params, seed, from, actions, steps, episode }) =>
        JSON.stringify({ params, seed, from, actions, steps, episode }),
      );
      expect(new Set(ways).size).toBe(ways.length);
    }
  });

  it.skipIf(unavailable !== null)(
    "are graded on real machines, and those once seen to agree with their verdict still do",
    async () => {
      const { states } = await loadCorpus(path("demo-labels"));
      const { tasks } = await loadTasks(path("demo"));
      const verdicts = await gradeStates({ states, tasks, provider: provider() });
      const [report] = agreements(casesOfStates(states, verdicts));
      const { agreement, kappa } = report?.without_nearly ?? {};
      console.info(`agreement ${agreement?.count}/${agreement?.n}, kappa ${kappa}`);
      expect(report?.cases).toBe(states.length);
      expect(report?.ungraded_cases.map(({ id, reason }) => `${id}: ${reason}`)).toEqual([]);
      expect(report?.broken).toEqual([]);
      expect(provider().openMachines()).toBe(0);
    },
    900_000,
  );
});
