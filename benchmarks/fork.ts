/** `shinken bench fork`: what a fork costs, and what the host's own means take in the same run. */
import { defaultCheckpointMiB } from "../src/env/checkpoints.js";
import type { Golden, Sandbox } from "../src/sandbox/sandbox.js";
import { baseline } from "./baseline.js";
import {
  bulk,
  firstSteps,
  type ForkProvider,
  hostForks,
  type MemoryKind,
  MICROSECONDS,
  nestedForks,
  readyForks,
  sample,
  timed,
} from "./sampling.js";
import { hostFacts, percentile, rounded, type Spread, spread } from "./statistics.js";

/** What machines with one kind of guest memory cost. */
export interface ForkFigures {
  fork_us: Spread;
  /** A fork of a fork that has written so many pages since its own fork or the one before. */
  nested_fork_us: Spread;
  nested_fork_pages: Spread;
  ready_ms: Spread;
  /** `true` as the first command of a machine that has just become ready. */
  first_step_ms: Spread;
  bulk100_ms: number;
  /** Medians of a few runs with a golden that was just loaded: its file is in the host's page cache, its code is decoded anew. */
  loaded: { first_ready_ms: number; bulk100_ms: number };
  /** `rss_mib`: the whole process, golden and runtime included, while all live; `growth_mib`: what came on top with them. */
  bulk1000: { ms: number; rss_mib: number; growth_mib: number; kib_per_child: number };
  step_true_ms: Spread;
  /** The checkpoint of a step that ran `true`, and the pages of 4 KiB that the step changed. */
  checkpoint_us: Spread;
  checkpoint_pages: Spread;
  evaluate10_ms: Spread | null;
  close_us: Spread;
}

export interface ForkBenchmark {
  host: Record<string, unknown>;
  /** Pages of the golden that are not all zeros: what a process of the same content would hold. */
  golden_mib: number;
  guest_memory_mib: number;
  memory: Partial<Record<MemoryKind, ForkFigures>>;
  baseline: { spawn_true_ms: Spread; fork2_us: Spread; fork2_huge_us: Spread; copy_ms: Spread };
}

export interface ForkBenchmarkOptions {
  /** The kinds of guest memory that are to be measured; at least one. */
  kinds: readonly MemoryKind[];
  /** A provider whose machines have that memory; whoever opens it closes it. */
  open: (kind: MemoryKind) => ForkProvider;
  image?: string | undefined;
  /** Grades a prepared machine with ten checks; left out, that line is null. */
  evaluate10?:
    | { prepare(sandbox: Sandbox): Promise<void>; evaluate(sandbox: Sandbox): Promise<void> }
    | undefined;
  /** Scales the number of samples; 1 is the default set. */
  effort?: number | undefined;
  onProgress?: ((line: string) => void) | undefined;
}

type Times = (count: number) => number;
type Say = (line: string) => void;

/** A process's first machines from a golden on disk. */
async function justLoaded(
  kind: MemoryKind,
  { open, image = "shell" }: ForkBenchmarkOptions,
  repeat: number,
): Promise<ForkFigures["loaded"]> {
  const first: number[] = [];
  const hundred: number[] = [];
  for (let i = 0; i < repeat; i += 1) {
    const provider = open(kind);
    try {
      let golden: Golden | undefined;
      first.push(
        await timed(async () => {
          golden = await provider.imageGolden(image);
          await (await golden.fork()).close();
        }),
      );
      golden?.close();
    } finally {
      await provider.close();
    }
    const again = open(kind);
    try {
      const golden = await again.imageGolden(image);
      hundred.push((await bulk(golden, 100)).ms);
      golden.close();
    } finally {
      await again.close();
    }
  }
  return { first_ready_ms: rounded(percentile(first, 0.5)), bulk100_ms: rounded(percentile(hundred, 0.5)) };
}

/** Steps of a machine that keeps its state after each. */
async function checkpointSteps(
  golden: Golden,
  count: number,
): Promise<Pick<ForkFigures, "checkpoint_us" | "checkpoint_pages">> {
  const machine = await golden.fork({ checkpoints: { budgetBytes: defaultCheckpointMiB * 1024 ** 2 } });
  const pages: number[] = [];
  let step = 0;
  // The first is told from the golden: what a fork changes to become ready, not a step.
  await machine.checkpoint?.(step);
  const times = await sample("checkpoint", count, async () => {
    await machine.exec({ argv: ["true"] });
    return timed(async () => {
      step += 1;
      pages.push((await machine.checkpoint?.(step))?.deltaPages ?? 0);
    });
  });
  await machine.close();
  return { checkpoint_us: spread(times.map((ms) => ms * MICROSECONDS)), checkpoint_pages: spread(pages) };
}

async function measure(
  provider: ForkProvider,
  golden: Golden,
  evaluate10: ForkBenchmarkOptions["evaluate10"],
  times: Times,
  say: Say,
): Promise<Omit<ForkFigures, "loaded">> {
  // One fork and one command, so that no sample pays for what only a first one pays.
  const first = await golden.fork();
  await first.exec({ argv: ["true"] });
  await first.close();

  say("host fork");
  const forks = await hostForks(provider, golden, times(1000));
  say("nested fork");
  const nested = await nestedForks(provider, golden, times(1000));
  say("ready");
  const { ready, close } = await readyForks(golden, times(1000));
  say("first step");
  const firstStep = await firstSteps(golden, times(1000));
  say("step with true");
  const steps = await golden.fork();
  const stepTrue = await sample("step", times(200), () => timed(() => steps.exec({ argv: ["true"] })));
  await steps.close();
  say("checkpoint of a step");
  const checkpoints = await checkpointSteps(golden, times(200));
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
    nested_fork_us: spread(nested.times.map((ms) => ms * MICROSECONDS)),
    nested_fork_pages: spread(nested.pages),
    ready_ms: spread(ready),
    first_step_ms: spread(firstStep),
    bulk100_ms: rounded(hundred.ms),
    bulk1000: {
      ms: rounded(thousand.ms),
      rss_mib: rounded(thousand.rssMiB),
      growth_mib: rounded(thousand.growthMiB),
      kib_per_child: rounded(thousand.kib),
    },
    step_true_ms: spread(stepTrue),
    ...checkpoints,
    evaluate10_ms: evaluations === null ? null : spread(evaluations),
    close_us: spread(close.map((ms) => ms * MICROSECONDS)),
  };
}

/** Everything of the fork benchmark, in turn: our figures and the host's come from one run. */
export async function benchFork(options: ForkBenchmarkOptions): Promise<ForkBenchmark> {
  const times: Times = (count) => Math.max(3, Math.round(count * (options.effort ?? 1)));
  const say: Say = options.onProgress ?? ((): void => undefined);
  const memory: ForkBenchmark["memory"] = {};
  let goldenBytes = 0;
  let memoryBytes = 0;
  for (const kind of options.kinds) {
    const provider = options.open(kind);
    try {
      const golden = await provider.imageGolden(options.image ?? "shell", { onProgress: say });
      goldenBytes = provider.storedBytes(golden);
      memoryBytes = golden.memoryBytes;
      const figures = await measure(provider, golden, options.evaluate10, times, (line) => {
        say(`${kind}: ${line}`);
      });
      golden.close();
      say(`${kind}: just loaded`);
      memory[kind] = { ...figures, loaded: await justLoaded(kind, options, times(5)) };
    } finally {
      await provider.close();
    }
  }
  say("spawn, fork(2), copy");
  const mib = Math.round(goldenBytes / 1024 ** 2);
  const spawns = await baseline("spawn", 0, times(100));
  const fork2 = await baseline("fork", mib, times(20));
  const fork2Huge = await baseline("fork-huge", mib, times(20));
  const copies = await baseline("copy", mib, times(5));
  return {
    host: hostFacts(),
    golden_mib: rounded(goldenBytes / 1024 ** 2),
    guest_memory_mib: rounded(memoryBytes / 1024 ** 2),
    memory,
    baseline: {
      spawn_true_ms: spread(spawns.map((ns) => ns / 1e6)),
      fork2_us: spread(fork2.map((ns) => ns / 1e3)),
      fork2_huge_us: spread(fork2Huge.map((ns) => ns / 1e3)),
      copy_ms: spread(copies.map((ns) => ns / 1e6)),
    },
  };
}
