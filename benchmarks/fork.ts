/** `shinken bench fork`: what a fork costs, and what the host's own means take in the same run. */
import { readFileSync } from "node:fs";
import { Bench } from "tinybench";
import type { Golden, Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";
import { baseline } from "./baseline.js";
import { hostFacts, rounded, type Spread, spread } from "./statistics.js";

/** What machines with one kind of guest memory cost. */
export interface ForkFigures {
  fork_us: Spread;
  ready_ms: Spread;
  bulk100_ms: number;
  /** `rss_mib`: the whole process, golden and runtime included, while all live; `growth_mib`: what came on top with them. */
  bulk1000: { ms: number; rss_mib: number; growth_mib: number; kib_per_child: number };
  step_true_ms: Spread;
  evaluate10_ms: Spread | null;
  close_us: Spread;
}

export interface ForkBenchmark {
  host: Record<string, unknown>;
  /** Pages of the golden that are not all zeros: what a process of the same content would hold. */
  golden_mib: number;
  guest_memory_mib: number;
  memory: Partial<Record<MemoryKind, ForkFigures>>;
  baseline: { spawn_true_ms: Spread; fork2_us: Spread; copy_ms: Spread };
}

type MemoryKind = "soft" | "uffd";

type ForkProvider = SandboxProvider & {
  hostFork(golden: Golden): { close(): Promise<void> };
  storedBytes(golden: Golden): number;
};

export interface ForkBenchmarkOptions {
  /** One for each kind of guest memory that is to be measured; at least one. */
  providers: Partial<Record<MemoryKind, ForkProvider>>;
  image?: string | undefined;
  /** Grades a prepared machine with ten checks; left out, that line is null. */
  evaluate10?:
    | { prepare(sandbox: Sandbox): Promise<void>; evaluate(sandbox: Sandbox): Promise<void> }
    | undefined;
  /** Scales the number of samples; 1 is the default set. */
  effort?: number | undefined;
  onProgress?: ((line: string) => void) | undefined;
}

const MICROSECONDS = 1000;

/** Runs `task` a fixed number of times and gives the samples in milliseconds. */
async function sample(name: string, times: number, task: () => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  const bench = new Bench({ time: 0, iterations: times, warmup: false, throws: true });
  // The parts that are not measured (closing, preparing) lie inside the task: it says itself how long the rest took.
  bench.add(name, async () => {
    const taken = await task();
    samples.push(taken);
    return { overriddenDuration: taken };
  });
  await bench.run();
  return samples;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function rssMiB(): number {
  const match = /^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
  return match === null ? process.memoryUsage.rss() / 1024 ** 2 : Number(match[1]) / 1024;
}

interface Bulk {
  ms: number;
  /** MiB of the process while all machines live. */
  rssMiB: number;
  /** MiB more than before there were any. */
  growthMiB: number;
  /** KiB of memory that each owns alone, on the average. */
  kib: number;
}

/** Forks `count` machines, all at once, until each is ready. */
async function bulk(golden: Golden, count: number): Promise<Bulk> {
  const before = rssMiB();
  let machines: Sandbox[] = [];
  const ms = await timed(async () => {
    machines = await Promise.all(Array.from({ length: count }, () => golden.fork()));
  });
  const after = rssMiB();
  const own = machines.reduce((sum, machine) => sum + machine.stats().privateBytes, 0);
  await Promise.all(machines.map((machine) => machine.close()));
  return { ms, rssMiB: after, growthMiB: Math.max(0, after - before), kib: own / 1024 / count };
}

type Times = (count: number) => number;
type Say = (line: string) => void;

async function measure(
  provider: ForkProvider,
  golden: Golden,
  evaluate10: ForkBenchmarkOptions["evaluate10"],
  times: Times,
  say: Say,
): Promise<ForkFigures> {
  // One fork and one command, so that no sample pays for what only a first one pays.
  const first = await golden.fork();
  await first.exec({ argv: ["true"] });
  await first.close();

  say("host fork");
  const closes: number[] = [];
  const forks = await sample("fork", times(1000), async () => {
    const start = performance.now();
    const machine = provider.hostFork(golden);
    const taken = performance.now() - start;
    await machine.close();
    return taken;
  });
  say("ready");
  const ready = await sample("ready", times(200), async () => {
    let machine: Sandbox | undefined;
    const taken = await timed(async () => {
      machine = await golden.fork();
    });
    closes.push(await timed(() => machine?.close() ?? Promise.resolve()));
    return taken;
  });
  say("step with true");
  const steps = await golden.fork();
  const stepTrue = await sample("step", times(200), () => timed(() => steps.exec({ argv: ["true"] })));
  await steps.close();
  say("evaluate with ten checks");
  const graded = evaluate10 === undefined ? null : await golden.fork();
  let evaluations: number[] | null = null;
  if (graded !== null && evaluate10 !== undefined) {
    await evaluate10.prepare(graded);
    await evaluate10.evaluate(graded);
    evaluations = await sample("evaluate", times(50), () => timed(() => evaluate10.evaluate(graded)));
    await graded.close();
  }
  say("100 and 1,000 forks");
  const hundred = await bulk(golden, 100);
  const thousand = await bulk(golden, 1000);
  return {
    fork_us: spread(forks.map((ms) => ms * MICROSECONDS)),
    ready_ms: spread(ready),
    bulk100_ms: rounded(hundred.ms),
    bulk1000: {
      ms: rounded(thousand.ms),
      rss_mib: rounded(thousand.rssMiB),
      growth_mib: rounded(thousand.growthMiB),
      kib_per_child: rounded(thousand.kib),
    },
    step_true_ms: spread(stepTrue),
    evaluate10_ms: evaluations === null ? null : spread(evaluations),
    close_us: spread(closes.map((ms) => ms * MICROSECONDS)),
  };
}

/** Everything of the fork benchmark, in turn: our figures and the host's come from one run. */
export async function benchFork(options: ForkBenchmarkOptions): Promise<ForkBenchmark> {
  const times: Times = (count) => Math.max(3, Math.round(count * (options.effort ?? 1)));
  const say: Say = options.onProgress ?? ((): void => undefined);
  const memory: ForkBenchmark["memory"] = {};
  let goldenBytes = 0;
  let memoryBytes = 0;
  for (const [kind, provider] of Object.entries(options.providers) as [MemoryKind, ForkProvider][]) {
    const golden = await provider.imageGolden(options.image ?? "shell", { onProgress: say });
    try {
      goldenBytes = provider.storedBytes(golden);
      memoryBytes = golden.memoryBytes;
      memory[kind] = await measure(provider, golden, options.evaluate10, times, (line) => {
        say(`${kind}: ${line}`);
      });
    } finally {
      golden.close();
    }
  }
  say("spawn, fork(2), copy");
  const mib = Math.round(goldenBytes / 1024 ** 2);
  const spawns = await baseline("spawn", 0, times(100));
  const fork2 = await baseline("fork", mib, times(20));
  const copies = await baseline("copy", mib, times(5));
  return {
    host: hostFacts(),
    golden_mib: rounded(goldenBytes / 1024 ** 2),
    guest_memory_mib: rounded(memoryBytes / 1024 ** 2),
    memory,
    baseline: {
      spawn_true_ms: spread(spawns.map((ns) => ns / 1e6)),
      fork2_us: spread(fork2.map((ns) => ns / 1e3)),
      copy_ms: spread(copies.map((ns) => ns / 1e6)),
    },
  };
}
