/** `shinken bench machines`: what machines cost that do nothing, how many can work at once, and what their end gives back. */
import { readdirSync, readFileSync } from "node:fs";
import { loadAddon } from "../src/sandbox/microvm/addon.js";
import type { Golden, Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";
import { hostFacts, rounded } from "./statistics.js";

export interface MachinesBenchmark {
  host: Record<string, unknown>;
  /** Ready machines that are parked, all at once; figures for each, and what the process holds more than before. */
  parked: {
    machines: number;
    /** Anonymous memory, and of it the pages that the machine wrote. The rest is tables, devices, caches. */
    kib_each: number;
    dirty_kib_each: number;
    /** The same after the caches of decoded code were dropped. */
    kib_each_without_caches: number;
    descriptors: number;
    mappings: number;
  };
  /** So many of them run `true` at once. */
  live: { machines: number; seconds: number; waited_ms_mean: number; ran_ms_mean: number };
  /** Anonymous memory of the process before there were any, and after all were closed. */
  before_mib: number;
  after_close_mib: number;
}

export interface MachinesBenchmarkOptions {
  provider: SandboxProvider;
  image?: string | undefined;
  /** Scales both numbers; 1 is 10,000 parked and 1,000 live. */
  effort?: number | undefined;
  onProgress?: ((line: string) => void) | undefined;
}

const PARKED = 10_000;
const LIVE = 1_000;
const AT_ONCE = 32;
const KIB = 1024;

interface Holdings {
  anonymousKib: number;
  descriptors: number;
  mappings: number;
}

function holdings(): Holdings {
  const status = readFileSync("/proc/self/status", "utf8");
  return {
    anonymousKib: Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]),
    descriptors: readdirSync("/proc/self/fd").length,
    mappings: readFileSync("/proc/self/maps", "utf8").split("\n").length,
  };
}

/** The same without what could be dropped. */
async function leanHoldings(): Promise<Holdings> {
  while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
  await loadAddon().dropCaches();
  return holdings();
}

/** Needs /proc. */
export async function benchMachines(options: MachinesBenchmarkOptions): Promise<MachinesBenchmark> {
  const { provider, effort = 1, onProgress: say = () => undefined } = options;
  const count = Math.max(1, Math.round(PARKED * effort));
  const golden = await provider.imageGolden(options.image ?? "shell");
  const machines: Sandbox[] = [];
  try {
    await (await golden.fork()).close();
    const before = await leanHoldings();
    say(`${count} machines`);
    await forkAll(golden, machines, count);
    const parked = holdings();
    const dirty = machines.reduce((sum, machine) => sum + machine.stats().privateBytes, 0) / KIB;
    const lean = await leanHoldings();
    const each = ({ anonymousKib }: Holdings): number =>
      rounded((anonymousKib - before.anonymousKib) / count);
    const live = await workAll(machines.slice(0, Math.max(1, Math.round(LIVE * effort))), say);
    await Promise.all(machines.splice(0).map((machine) => machine.close()));
    const after = await leanHoldings();
    return {
      host: hostFacts(),
      parked: {
        machines: count,
        kib_each: each(parked),
        dirty_kib_each: rounded(dirty / count),
        kib_each_without_caches: each(lean),
        descriptors: lean.descriptors - before.descriptors,
        mappings: lean.mappings - before.mappings,
      },
      live,
      before_mib: rounded(before.anonymousKib / KIB),
      after_close_mib: rounded(after.anonymousKib / KIB),
    };
  } finally {
    await Promise.all(machines.map((machine) => machine.close()));
    golden.close();
  }
}

async function forkAll(golden: Golden, machines: Sandbox[], count: number): Promise<void> {
  while (machines.length < count) {
    const some = Math.min(AT_ONCE, count - machines.length);
    machines.push(...(await Promise.all(Array.from({ length: some }, () => golden.fork()))));
  }
}

async function workAll(
  machines: readonly Sandbox[],
  say: (line: string) => void,
): Promise<MachinesBenchmark["live"]> {
  say(`${machines.length} at work`);
  const { waited, ran } = loadAddon().engineStats().priorities.ordinary;
  const start = performance.now();
  await Promise.all(machines.map((machine) => machine.exec({ argv: ["true"] })));
  const seconds = (performance.now() - start) / 1000;
  const now = loadAddon().engineStats().priorities.ordinary;
  const mean = (was: typeof waited, is: typeof waited): number =>
    rounded(((is.seconds - was.seconds) / (is.count - was.count)) * 1000);
  return {
    machines: machines.length,
    seconds: rounded(seconds),
    waited_ms_mean: mean(waited, now.waited),
    ran_ms_mean: mean(ran, now.ran),
  };
}
