/** The pipeline on real machines, over a real server and a real WebSocket. */
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import { EchoEnvironment, TaskEnvironmentFactory } from "../../../src/env/index.js";
import { makeTask } from "../../../src/env/task/index.js";
import { type Operator, oracleOperator, scriptedPlayer } from "../../../src/operator/index.js";
import {
  type EpisodeJob,
  Pipeline,
  type PipelineOptions,
  playBestOf,
  playGroup,
} from "../../../src/rollout/index.js";
import { document } from "../../env/session-support.js";
import { machinesUnavailable, providerForFile } from "../../support/machine.js";
import { start, stopAll } from "../../support/wire-server.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterEach(stopAll);

/** Passes where one file was written and no endless loop is left running. */
const task = makeTask({
  ...document,
  image: "shell",
  verify: {
    graph: {
      all: [
        {
          id: "one",
          channel: "fs",
          milestone: true,
          query: { kind: "text", path: "/home/agent/one" },
          assert: { type: "text", equals: "1\n" },
        },
        {
          id: "quiet",
          channel: "process",
          needs: [],
          query: { kind: "count", argv_contains: ["endless-loop"] },
          assert: { type: "number", equals: 0 },
        },
      ],
    },
  },
});
const variant = task.variant();
const loop = 'echo 1 > one; exec sh -c "while :; do :; done" endless-loop';

const endless: Operator = {
  name: "endless",
  play: () => scriptedPlayer([[{ type: "exec", command: loop, timeout_s: 3_000 }]]),
};

async function onServer<T>(
  options: Partial<PipelineOptions>,
  use: (pipeline: Pipeline) => Promise<T>,
): Promise<T> {
  const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [task] });
  const server = await start({ factory, makeEcho: () => new EchoEnvironment() });
  const client = await connect(server.url);
  const pipeline = new Pipeline({ client, ...options });
  try {
    return await use(pipeline);
  } finally {
    pipeline.close();
    await client.close();
    await server.close();
    factory.close();
    expect(provider().openMachines()).toBe(0);
  }
}

const job = (replica: number, operator: Operator): EpisodeJob => ({
  variant,
  operator,
  replica,
  seed: replica,
});

describe.skipIf(unavailable !== null)("the pipeline on real machines", () => {
  it("stops a guest's endless loop when the budget is spent, grades what was done, and plays the others meanwhile", async () => {
    await onServer(
      { pools: { init: 1, run: 2, verify: 1 }, budgets: { agent: 5 }, graceSeconds: 60 },
      async (pipeline) => {
        const [stuck, ...others] = await Promise.all([
          pipeline.play(job(0, endless)),
          ...[1, 2, 3].map((replica) => pipeline.play(job(replica, oracleOperator))),
        ]);
        expect(stuck).toMatchObject({ status: "graded", ended: "budget", steps: 0 });
        // The verdict looks for the loop itself: it is gone, and the file that was written before it is there.
        expect(stuck.verdict?.checks.map(({ id, status }) => [id, status])).toEqual([
          ["one", "passed"],
          ["quiet", "passed"],
        ]);
        for (const other of others)
          expect(other).toMatchObject({ status: "graded", score: 1, ended: "terminated" });
        const { run, machines, leftBehind } = pipeline.metrics();
        expect({ done: run.done, machines: machines.done, leftBehind }).toEqual({
          done: 4,
          machines: 4,
          leftBehind: 0,
        });
      },
    );
  }, 240_000);

  it("knows such a loop when it is still there", async () => {
    const command = 'echo 1 > one; sh -c "sleep 1000; :" endless-loop > /dev/null 2>&1 &';
    const leaves: Operator = { name: "leaves", play: () => scriptedPlayer([[{ type: "exec", command }]]) };
    await onServer({}, async (pipeline) => {
      const { passed, verdict } = await pipeline.play(job(0, leaves));
      expect([passed, verdict?.checks.map(({ status }) => status)]).toEqual([false, ["passed", "failed"]]);
    });
  }, 240_000);

  it("plays groups whose replicas share a golden, and cuts the one that is late", async () => {
    let players = 0;
    const mixed: Operator = {
      name: "mixed",
      play: (which) => (players++ === 1 ? endless : oracleOperator).play(which),
    };
    await onServer({ pools: { init: 2, run: 3, verify: 2 }, graceSeconds: 60 }, async (pipeline) => {
      const group = await playGroup(
        pipeline,
        { variant, operator: mixed, seed: 1 },
        { k: 3, policy: "drop", patienceSeconds: 5 },
      );
      expect(group.episodes.map(({ score }) => score)).toEqual([1, 1]);
      expect(group.dropped).toHaveLength(1);
    });
  }, 240_000);

  it("forks the machine at a step for best-of-n, and every branch goes on from there", async () => {
    const two: Operator = {
      name: "two",
      scripted: true,
      play: () =>
        scriptedPlayer([
          [{ type: "exec", command: "echo 1 > one" }],
          [{ type: "exec", command: "test -f one && echo 2 > two" }],
          [{ type: "done" }],
        ]),
    };
    await onServer({ pools: { init: 2, run: 2, verify: 1 } }, async (pipeline) => {
      const best = await playBestOf(pipeline, job(0, two), { n: 2, rule: "score", fromStep: 1 });
      expect(best.selected).toBe(0);
      expect(best.candidates.map(({ score, steps, milestones }) => [score, steps, milestones])).toEqual([
        [1, 3, ["one"]],
        [1, 3, ["one"]],
      ]);
    });
  }, 240_000);
});
