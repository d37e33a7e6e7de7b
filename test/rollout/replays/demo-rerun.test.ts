import { afterAll, describe, expect, it } from "vitest";
import { rerun } from "../../../src/rollout/replays/rerun.js";
import { closePool } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile } from "../../support/machine.js";
import { demoTasks, folderForFile, recorded, studio } from "./support.js";

const unavailable = await machinesUnavailable();
const tasks = await demoTasks();
const folder = folderForFile();
const soft = providerForFile({ memory: "soft" });
const uffd = providerForFile({ memory: "uffd" });
afterAll(closePool);

/** Whether a task's oracle is played with a seed or without one: half of them each way. */
const seedOf = (index: number): { seed?: number } => (index % 2 === 0 ? { seed: 1_000 + index } : {});

describe.skipIf(unavailable !== null)("the oracle's episodes of the demo tasks", () => {
  it.each(tasks.map((task, index) => [task.id, index] as const))(
    "%s, recorded on one memory, repeats itself to the bit on both",
    async (id, index) => {
      const [here, there] = index % 4 < 2 ? [soft(), uffd()] : [uffd(), soft()];
      const same = studio(here, tasks, folder);
      const other = studio(here, tasks, folder, { memory: there });
      const { oracle } = (tasks[index] as (typeof tasks)[number]).variant(seedOf(index)).task;
      try {
        const bundle = await recorded(same, id, oracle, seedOf(index));
        for (const { opener } of [same, other]) {
          const { session, steps, difference } = await rerun(bundle, { open: opener.open });
          await session.close();
          expect(difference).toBeNull();
          expect(steps).toBe(oracle.length);
        }
      } finally {
        await same.close();
        await other.close();
      }
    },
  );
});
