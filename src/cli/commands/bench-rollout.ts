import { join } from "node:path";
import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { integer } from "../options.js";
import { launcher, packageRoot } from "../root.js";

interface Spread {
  p50: number | null;
  p99: number | null;
}

interface Report {
  operator: string;
  episodes: number;
  passed: number;
  ungraded: number;
  seconds: number;
  episodes_per_s: number;
  steps_per_s: number;
  reset_ms: Spread;
  ready_ms: Spread;
  step_ms: Spread;
  evaluate_ms: Spread;
  pools: Record<"init" | "run" | "verify", { size: number; busy: number; waiting_ms: Spread }>;
  server_peak_mib: number | null;
  client_peak_mib: number | null;
  server_cpu_ms_per_episode: number | null;
  peers: {
    container_reset_ms: { low: number; high: number; of: string };
    osworld_sleeps_s_per_task: { value: number; of: string };
  };
}

interface RolloutModule {
  benchRollout(options: Record<string, unknown>): Promise<Report>;
}

interface RolloutOptions {
  tasks: string;
  episodes: number;
  operator: string;
  concurrency?: number;
  initPool?: number;
  verifyPool?: number;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .option("--tasks <dir>", "folder of tasks", join(packageRoot(), "tasks", "demo"))
    .option("--episodes <n>", "episodes, rounded up to whole replicas", integer(1, 1_000_000), 1_000)
    .option("--operator <name>", "who plays: oracle, null, fail or done", "oracle")
    .option("--concurrency <n>", "size of the pool RUN", integer(1, 1024))
    .option("--init-pool <n>", "size of the pool INIT", integer(1, 1024))
    .option("--verify-pool <n>", "size of the pool VERIFY", integer(1, 1024))
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench rollout --episodes 1000 --json")
    .action(benchRollout);
}

async function benchRollout(options: RolloutOptions): Promise<void> {
  const module = await loadBenchmark<RolloutModule>("rollout");
  const sizes = { init: options.initPool, run: options.concurrency, verify: options.verifyPool };
  const result = await module.benchRollout({
    launcher: launcher(),
    tasks: options.tasks,
    episodes: options.episodes,
    operator: options.operator,
    pools: Object.fromEntries(Object.entries(sizes).filter(([, size]) => size !== undefined)),
    onProgress: (line: string) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : render(result));
}

function render(report: Report): string {
  const { pools, peers } = report;
  const row = (name: string, text: string): string => `${name.padEnd(16)} ${text}`;
  const times = (name: string, { p50, p99 }: Spread): string =>
    row(name, p50 === null ? "-" : `p50 ${p50} p99 ${p99} ms`);
  const { container_reset_ms: container, osworld_sleeps_s_per_task: osworld } = peers;
  return [
    row(
      "episodes",
      `${report.episodes} of ${report.operator} in ${report.seconds} s: ${report.episodes_per_s}/s, ${report.steps_per_s} steps/s; ${report.passed} passed, ${report.ungraded} ungraded`,
    ),
    times("reset", report.reset_ms),
    times("fork to ready", report.ready_ms),
    times("step", report.step_ms),
    times("evaluate", report.evaluate_ms),
    ...Object.entries(pools).map(([name, { size, busy, waiting_ms }]) =>
      row(
        `pool ${name}`,
        `${size} slots, ${Math.round(busy * 100)} % busy; waited p50 ${waiting_ms.p50} p99 ${waiting_ms.p99} ms`,
      ),
    ),
    row("memory", `server ${report.server_peak_mib} MiB, client ${report.client_peak_mib} MiB at the most`),
    row("processor", `${report.server_cpu_ms_per_episode} ms of the server's an episode`),
    row("published", `${container.low} to ${container.high} ms: ${container.of}`),
    row("", `${osworld.value} s: ${osworld.of}`),
    "",
  ].join("\n");
}
