/** Nodes as processes, with machines of their own: one is killed in the middle. */
import type { ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { loadTasks } from "../../../src/env/index.js";
import type { EpisodeOutcome } from "../../../src/rollout/index.js";
import { collectEvaluation, openQueue, submitEvaluation } from "../../../src/rollout/queue/index.js";
import { publishedScorers } from "../../../src/suites/index.js";
import { finished, root, startCli } from "../../support/cli.js";
import { startRedis, withoutRedis } from "../../support/redis-server.js";

const replicas = 8;
/** Seconds. */
const lease = "6";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "shinken-nodes-"));
  cleanups.push(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

function startNode(address: string, tasks: string, node: string) {
  const words = ["worker", "--queue", address, "--tasks", tasks, "--node", node, "--concurrency", "1"];
  const child = startCli([...words, "--lease", lease, "--json"], { env: { SHINKEN_STATE: folder() } });
  cleanups.push(() => {
    child.kill("SIGKILL");
  });
  return { child, end: finished(child) };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function survives(address: string): Promise<void> {
  const tasks = join(folder(), "tasks");
  cpSync(join(root, "tasks", "demo", "clean-cache"), join(tasks, "clean-cache"), { recursive: true });
  const set = await loadTasks(tasks, { scorers: publishedScorers });
  const queue = await openQueue(address, { leaseMs: Number(lease) * 1_000 });
  cleanups.push(() => queue.close());
  const given = { tasks: set.tasks, digest: set.digest, operator: "null", replicas, seed: 7, attempts: 20 };
  const run = await submitEvaluation(queue, given);

  const victim = startNode(address, tasks, "victim");
  const other = startNode(address, tasks, "other");
  await until(async () => (await queue.stats()).done > 0 && (await queue.nodes()).length === 2);
  const before = await queue.collect(run);
  await queue.settle(before?.claim ?? "");
  await until(async () => (await queue.stats()).leased === 2);
  kill(victim.child);
  await victim.end;

  const kept = before?.results.map(({ result }) => result as EpisodeOutcome) ?? [];
  const came: EpisodeOutcome[] = [];
  const report = await collectEvaluation(queue, {
    run,
    tasks: set.tasks,
    digest: set.digest,
    kept,
    keep: (outcomes) => {
      came.push(...outcomes);
      return Promise.resolve();
    },
  });
  const numbers = [...kept, ...came].map(({ replica }) => replica).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: replicas }, (_, replica) => replica));
  expect(report.total).toMatchObject({ n: replicas, passed: 0, ungraded: 0 });
  expect(report.not_played).toBe(0);
  expect(await queue.stats()).toMatchObject({ waiting: 0, delayed: 0, leased: 0, done: 0, dead: 0 });

  other.child.kill("SIGTERM");
  const { code, stdout } = await other.end;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ node: "other", lost: 0 });
}

/** Its server is a child that ends with it. */
function kill(child: ChildProcess): void {
  child.kill("SIGKILL");
}

describe("a node that is killed in the middle", () => {
  it("loses nothing and repeats nothing that was acknowledged, in a SQLite file", () =>
    survives(`sqlite:${join(folder(), "queue.db")}`));

  it.skipIf(withoutRedis !== null)("nor on BullMQ and Redis", async () => {
    const server = await startRedis();
    cleanups.push(() => server.stop());
    await survives(server.url);
  });
});
