import { join } from "node:path";
import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { integer, seconds, share } from "../options.js";
import { launcher, packageRoot } from "../root.js";

interface PullOptions {
  tasks?: string;
  task: string;
  pullers: number;
  seconds: number;
  effort: number;
  json?: boolean;
}

interface Spread {
  p50: number;
  p99: number;
}

interface Figures {
  warm_reset_ms: Spread;
  cold_reset_ms: Spread;
  ratio: number;
  pullers: number;
  pulled_episodes_per_s: number;
  created_episodes_per_s: number;
}

interface PullModule {
  benchmarkRolloutPull: (options: {
    launcher: string;
    tasks: string;
    task: string;
    pullers: number;
    samples: number;
    seconds: number;
    onProgress: (line: string) => void;
  }) => Promise<{ echo: Figures; machine: Figures | null }>;
}

/** Resets of each kind with the whole effort. */
const samplesInFull = 200;

export function define(command: Command): void {
  command
    .option("--tasks <dir>", "folder of tasks (default: the demo tasks)")
    .option("--task <id>", "the task that is played", "sort-scans")
    .option("--pullers <n>", "players at a time", integer(1, 256), 4)
    .option("--seconds <s>", "time for each measurement of episodes a second", seconds, 5)
    .option("--effort <x>", "share of samples and time", share, 1)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nReset out of a warm pool (rollout.next) beside create and reset, in turns; then whole episodes a second. Server and client are two processes.\n\nExample:\n  shinken bench rollout-pull --pullers 8 --json",
    )
    .action(benchRolloutPull);
}

async function benchRolloutPull(options: PullOptions): Promise<void> {
  const { benchmarkRolloutPull } = await loadBenchmark<PullModule>("rollout-pull");
  const report = await benchmarkRolloutPull({
    launcher: launcher(),
    tasks: options.tasks ?? join(packageRoot(), "tasks", "demo"),
    task: options.task,
    pullers: options.pullers,
    samples: Math.max(1, Math.round(samplesInFull * options.effort)),
    seconds: options.seconds * options.effort,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  process.stdout.write("              warm p50    p99   cold p50    p99 ms   episodes/s pulled  created\n");
  for (const name of ["echo", "machine"] as const) {
    const row = report[name];
    if (row === null) continue;
    const { warm_reset_ms: warm, cold_reset_ms: cold } = row;
    const cells = [
      name.padEnd(12),
      ...[warm.p50, warm.p99, cold.p50, cold.p99].map((ms) => ms.toFixed(2).padStart(9)),
      row.pulled_episodes_per_s.toFixed(1).padStart(18),
      row.created_episodes_per_s.toFixed(1).padStart(8),
    ];
    process.stdout.write(`${cells.join(" ")}\n`);
  }
}
