/** `shinken bench rollout`: a thousand episodes end to end, over a real WebSocket, with a server in a process of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../src/client/index.js";
import { loadTasks } from "../src/env/index.js";
import { operatorByName } from "../src/operator/index.js";
import { type EvaluationReport, evaluateTaskSet, type PoolSizes, type Spread } from "../src/rollout/index.js";
import { publishedScorers } from "../src/suites/index.js";
import { hostFacts, rounded } from "./statistics.js";
import { peakKib, startServer } from "./wire-server.js";

export interface RolloutBenchmark {
  host: Record<string, unknown>;
  operator: string;
  tasks: number;
  /** Reset, played, graded and closed; ungraded ones counted beside. */
  episodes: number;
  passed: number;
  ungraded: number;
  seconds: number;
  episodes_per_s: number;
  steps_per_s: number;
  /** Host milliseconds as the client sees them; `ready_ms` as the server does: from fork to the acknowledged fork. */
  reset_ms: Spread;
  ready_ms: Spread;
  step_ms: Spread;
  evaluate_ms: Spread;
  /** Of each pool. `busy`: slots taken, as a share of all slots over the whole time. */
  pools: Record<keyof PoolSizes, { size: number; busy: number; waiting_ms: Spread }>;
  retries: number;
  /** The most resident memory that each process had, goldens and bundles in writing included; null where the host does not say. */
  server_peak_mib: number | null;
  client_peak_mib: number | null;
  /** Processor time of the server for one episode, milliseconds. */
  server_cpu_ms_per_episode: number | null;
  /** What others publish, for the same thing or what stands in its place. Not measured here. */
  peers: typeof peers;
}

/** Figures of others, with what they are of. */
export const peers = {
  container_reset_ms: { low: 60, high: 120, of: "reset of an environment in a container" },
  osworld_sleeps_s_per_task: { value: 80, of: "fixed sleeps of OSWorld's harness, each task" },
} as const;

export interface RolloutBenchmarkOptions {
  launcher: string;
  /** Folder of tasks. */
  tasks: string;
  episodes: number;
  operator: string;
  pools: Partial<PoolSizes>;
  onProgress?: ((line: string) => void) | undefined;
}

const MIB_KIB = 1_024;
const SEED = 0;

export async function benchRollout(options: RolloutBenchmarkOptions): Promise<RolloutBenchmark> {
  const { onProgress: say = () => undefined } = options;
  const set = await loadTasks(options.tasks, { scorers: publishedScorers });
  const folder = mkdtempSync(join(tmpdir(), "shinken-bench-rollout-"));
  const server = await startServer(options.launcher, ["--tasks", options.tasks, "--record", folder]);
  try {
    const play = (replicas: number, tell: boolean): Promise<EvaluationReport> =>
      evaluateTaskSet({
        tasks: set.tasks,
        digest: set.digest,
        operator: operatorByName(options.operator),
        replicas,
        seed: SEED,
        pipeline: { pools: options.pools },
        connect: () => connect(server.url, { token: process.env["SHINKEN_TOKEN"] || undefined }),
        onEpisode: (_, done, all) => {
          if (tell && done % 100 === 0) say(`${done} of ${all} episodes`);
        },
      });
    say("goldens");
    await play(1, false);
    const before = server.processorUs();
    const report = await play(Math.ceil(options.episodes / set.tasks.length), true);
    return summary(report, {
      cpuUs: difference(server.processorUs(), before),
      serverPeakKib: server.peakKib(),
    });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function summary(
  report: EvaluationReport,
  { cpuUs, serverPeakKib }: { cpuUs: number | null; serverPeakKib: number | null },
): RolloutBenchmark {
  const { total, timing, pipeline } = report;
  if (pipeline === null) throw new Error("what was played here has a pipeline");
  const episodes = total.n + total.ungraded;
  const pool = (name: keyof PoolSizes) => {
    const { size, utilisation, waitingMs } = pipeline[name];
    return { size, busy: rounded(utilisation), waiting_ms: spread(waitingMs) };
  };
  const clientPeakKib = peakKib("self");
  return {
    host: hostFacts(),
    operator: report.operator,
    tasks: total.tasks,
    episodes,
    passed: total.passed,
    ungraded: total.ungraded,
    seconds: rounded(timing.seconds),
    episodes_per_s: rounded(episodes / timing.seconds),
    steps_per_s: rounded(timing.steps_per_s ?? 0),
    reset_ms: spread(timing.reset_ms),
    ready_ms: spread(timing.ready_ms),
    step_ms: spread(timing.step_ms),
    evaluate_ms: spread(timing.evaluate_ms),
    pools: { init: pool("init"), run: pool("run"), verify: pool("verify") },
    retries: pipeline.retries,
    server_peak_mib: serverPeakKib === null ? null : rounded(serverPeakKib / MIB_KIB),
    client_peak_mib: clientPeakKib === null ? null : rounded(clientPeakKib / MIB_KIB),
    server_cpu_ms_per_episode: cpuUs === null ? null : rounded(cpuUs / 1_000 / episodes),
    peers,
  };
}

function spread({ p50, p99 }: Spread): Spread {
  return { p50: p50 === null ? null : rounded(p50), p99: p99 === null ? null : rounded(p99) };
}

function difference(after: number | null, before: number | null): number | null {
  return after === null || before === null ? null : after - before;
}
