import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import type { TaskSet } from "../../env/task/index.js";
import type { EvaluationReport } from "../../rollout/index.js";
import { goldenFolder } from "../../sandbox/microvm/golden-folder.js";
import { openBackend } from "../backend.js";
import { exitCodes } from "../exit-codes.js";
import { buildWithProgress } from "../image-stage.js";
import { integer } from "../options.js";
import { Stage } from "../progress.js";
import { packageRoot } from "../root.js";
import { startServerProcess } from "../server-process.js";
import { printJson } from "../json.js";

interface DemoOptions {
  tasks: string;
  replicas: number;
  seed: number;
  json?: boolean;
}

/** Who plays: the reference solution must always pass, doing nothing never. */
const operatorNames = ["oracle", "null"] as const;

export function define(command: Command): void {
  command
    .option("--tasks <dir>", "folder of tasks", join(packageRoot(), "tasks", "demo"))
    .option("--replicas <k>", "episodes of each task", integer(1, 1000), 5)
    .option("--seed <n>", "run seed", integer(0), 0)
    .option("--json", "print both reports as one JSON object")
    .addHelpText(
      "after",
      "\nStages: image, goldens, server in a process of its own, episodes over a real WebSocket, scorecard. What is cached says so.\n\nExample:\n  shinken demo\n\nExit codes: 0 the oracle always passes and the null agent never does, 1 otherwise, 3 something is missing.",
    )
    .action(demo);
}

async function demo(options: DemoOptions): Promise<void> {
  await buildWithProgress("shell");
  const set = await makeGoldens(options);
  const reports = await play(options, set);
  const [oracle, nothing] = reports as [EvaluationReport, EvaluationReport];
  const ok =
    oracle.total.passed === oracle.tasks.length * options.replicas &&
    nothing.total.passed === 0 &&
    nothing.total.ungraded === 0;
  if (options.json === true) {
    printJson({ oracle, null: nothing, ok });
  } else {
    const { renderScorecard } = await import("../../rollout/index.js");
    for (const report of reports) process.stdout.write(`\n${renderScorecard(report)}`);
    process.stdout.write(
      ok ? "\nThe oracle passed every time, doing nothing never.\n" : "\nNOT as it should be: see above.\n",
    );
  }
  if (!ok) process.exitCode = exitCodes.failed;
}

/** Makes the goldens that the episodes will need, so that the server finds them on disk. */
async function makeGoldens(options: DemoOptions): Promise<TaskSet> {
  const { subSeed } = await import("../../rollout/index.js");
  const backend = await openBackend({ tasks: options.tasks });
  try {
    const set = backend.tasks as TaskSet;
    const stage = new Stage("goldens");
    const before = goldensOnDisk();
    const image = await backend.provider.imageGolden("shell", {
      onProgress: (line) => {
        stage.update(0, set.tasks.length + 1, line);
      },
    });
    image.close();
    for (const [index, task] of set.tasks.entries()) {
      stage.update(index + 1, set.tasks.length + 1, task.id);
      const session = await backend.factory.create(task.id);
      // The parameters that the rollout will draw: each set of them has a golden of its own.
      await session.reset({ seed: 0, params: task.variant({ seed: subSeed(options.seed, task.id) }).params });
      await session.close();
    }
    const made = goldensOnDisk() - before;
    if (made === 0) stage.cached();
    else stage.end(`${made} made`);
    return set;
  } finally {
    await backend.close();
  }
}

function goldensOnDisk(): number {
  const folder = goldenFolder();
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".golden")).length : 0;
}

async function play(options: DemoOptions, set: TaskSet): Promise<EvaluationReport[]> {
  const [{ evaluateTaskSet }, { operatorByName }, { connect }] = await Promise.all([
    import("../../rollout/index.js"),
    import("../../operator/index.js"),
    import("../../client/index.js"),
  ]);
  const starting = new Stage("server");
  const server = await startServerProcess(options.tasks);
  starting.end(server.url);
  try {
    const reports: EvaluationReport[] = [];
    for (const name of operatorNames) {
      const stage = new Stage(`episodes: ${name}`);
      const report = await evaluateTaskSet({
        tasks: set.tasks,
        digest: set.digest,
        operator: operatorByName(name),
        replicas: options.replicas,
        seed: options.seed,
        // More at a time than there are cores only makes each of them slower.
        pipeline: { pools: { run: Math.min(availableParallelism(), 8) } },
        connect: () => connect(server.url, { token: process.env["SHINKEN_TOKEN"] || undefined }),
        onEpisode: (outcome, done, all) => {
          stage.update(done, all, outcome.task);
        },
      });
      stage.end(`${report.total.n + report.total.ungraded} episodes`);
      reports.push(report);
    }
    return reports;
  } finally {
    await server.stop();
  }
}
