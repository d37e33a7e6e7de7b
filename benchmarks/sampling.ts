/** How the fork benchmarks take their samples. */
import { readFileSync } from "node:fs";
import { Bench } from "tinybench";
import type { Golden, Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";

export type MemoryKind = "soft" | "uffd";

export type ForkProvider = SandboxProvider & {
  hostFork(golden: Golden): { close(): Promise<void> };
  hostBranch(machine: Sandbox): Promise<{ close(): Promise<void> }>;
  storedBytes(golden: Golden): number;
};

export const MICROSECONDS = 1000;

/** Runs `task` a fixed number of times and gives the samples in milliseconds. */
export async function sample(name: string, times: number, task: () => Promise<number>): Promise<number[]> {
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

/** Milliseconds of `work`. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Milliseconds of the host's share of `count` forks, each closed before the next. */
export function hostForks(provider: ForkProvider, golden: Golden, count: number): Promise<number[]> {
  return sample("fork", count, async () => {
    const start = performance.now();
    const machine = provider.hostFork(golden);
    const taken = performance.now() - start;
    await machine.close();
    return taken;
  });
}

/** What a machine writes before it is forked again; with what its agent needs for it about 256 pages. */
const DIRTY_BYTES = 288 * 1024;

/**
 * Milliseconds of the host's share of `count` forks of one fork, which has written since the one before, and how many pages of 4 KiB
 * it had. From the call to its promise, which is settled by an engine thread.
 */
export async function nestedForks(
  provider: ForkProvider,
  golden: Golden,
  count: number,
): Promise<{ times: number[]; pages: number[] }> {
  const parent = await golden.fork();
  const pages: number[] = [];
  const content = new Uint8Array(DIRTY_BYTES);
  let round = 0;
  const times = await sample("nested fork", count, async () => {
    content.fill((round += 1));
    await parent.writeFile("/dev/shm/dirty", content);
    pages.push(parent.stats().privateBytes / 4096);
    let child: { close(): Promise<void> } | undefined;
    const taken = await timed(async () => {
      child = await provider.hostBranch(parent);
    });
    await child?.close();
    return taken;
  });
  await parent.close();
  return { times, pages };
}

/** Milliseconds of `count` forks until each is ready, and of their ends. */
export async function readyForks(
  golden: Golden,
  count: number,
): Promise<{ ready: number[]; close: number[] }> {
  const close: number[] = [];
  const ready = await sample("ready", count, async () => {
    const start = performance.now();
    const machine = await golden.fork();
    const taken = performance.now() - start;
    close.push(await timed(() => machine.close()));
    return taken;
  });
  return { ready, close };
}

/** Milliseconds of the first command of `count` machines that have just become ready. */
export function firstSteps(golden: Golden, count: number): Promise<number[]> {
  return sample("first step", count, async () => {
    const machine = await golden.fork();
    const taken = await timed(() => machine.exec({ argv: ["true"] }));
    await machine.close();
    return taken;
  });
}

function rssMiB(): number {
  const match = /^VmRSS:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
  return match === null ? process.memoryUsage.rss() / 1024 ** 2 : Number(match[1]) / 1024;
}

export interface Bulk {
  ms: number;
  /** MiB of the process while all machines live. */
  rssMiB: number;
  /** MiB more than before there were any. */
  growthMiB: number;
  /** KiB of memory that each owns alone, on the average. */
  kib: number;
}

/** Forks `count` machines, `atOnce` of them at a time, until each is ready; then closes them. */
export async function bulk(golden: Golden, count: number, atOnce = count): Promise<Bulk> {
  const before = rssMiB();
  const machines: Sandbox[] = [];
  try {
    const ms = await timed(async () => {
      let begun = 0;
      const line = async (): Promise<void> => {
        while (begun++ < count) machines.push(await golden.fork());
      };
      const lines = await Promise.allSettled(Array.from({ length: Math.min(atOnce, count) }, line));
      const failed = lines.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    });
    const after = rssMiB();
    const own = machines.reduce((sum, machine) => sum + machine.stats().privateBytes, 0);
    return { ms, rssMiB: after, growthMiB: Math.max(0, after - before), kib: own / 1024 / count };
  } finally {
    await Promise.all(machines.map((machine) => machine.close()));
  }
}
