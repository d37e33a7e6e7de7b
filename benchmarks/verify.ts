/** What a verdict costs: mixed checks on a prepared machine, beside a grade fork that is closed at once. */
import type { Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";
import { MICROSECONDS, sample, timed } from "./sampling.js";
import { rounded, type Spread, spread } from "./statistics.js";

type Mix = "ten" | "hundred" | "programs";

export interface VerifyBenchmarkOptions {
  provider: SandboxProvider;
  image: string;
  /** Share of the samples. */
  effort: number;
  prepare(mix: Mix, sandbox: Sandbox): Promise<void>;
  evaluate(mix: Mix, sandbox: Sandbox): Promise<void>;
  onProgress?: (line: string) => void;
}

export interface VerifyReport {
  /** Six files, two processes, two databases; ten times as many. */
  ten_ms: Spread;
  hundred_ms: Spread;
  /** Ten checks that run a program in the guest. */
  programs_ms: Spread;
  /** Baseline: a grade fork, taken and closed. */
  fork_ms: Spread;
  /** Processor time of the whole process for one of each, with what its threads make ahead between two. */
  cpu_ms: { ten: number; hundred: number; programs: number; fork: number };
}

interface Cost {
  time: Spread;
  cpu: number;
}

const WARM_UPS = 5;

/** Measures with a warm golden and warm verifier threads. Rejects unless every check passes every time. */
export async function benchVerify(options: VerifyBenchmarkOptions): Promise<VerifyReport> {
  const times = (count: number): number => Math.max(3, Math.round(count * options.effort));
  const golden = await options.provider.imageGolden(options.image, {});
  /** A machine of its own, with what its mix looks for and nothing else. */
  const withMachine = async (work: (machine: Sandbox) => Promise<Cost>): Promise<Cost> => {
    const machine = await golden.fork();
    try {
      return await work(machine);
    } finally {
      await machine.close();
    }
  };
  const of = async (name: string, count: number, work: () => Promise<void>): Promise<Cost> => {
    options.onProgress?.(name);
    for (let index = 0; index < WARM_UPS; index++) await work();
    const before = process.cpuUsage();
    const samples = await sample(name, times(count), () => timed(work));
    const { user, system } = process.cpuUsage(before);
    return { time: spread(samples), cpu: rounded((user + system) / MICROSECONDS / samples.length) };
  };
  const ofMix = (mix: Mix, name: string, count: number): Promise<Cost> =>
    withMachine(async (machine) => {
      await options.prepare(mix, machine);
      return of(name, count, () => options.evaluate(mix, machine));
    });
  try {
    const ten = await ofMix("ten", "ten checks", 300);
    const hundred = await ofMix("hundred", "a hundred checks", 100);
    const programs = await ofMix("programs", "ten programs", 50);
    const fork = await withMachine((machine) =>
      of("grade fork", 300, async () => (await machine.fork("grade")).close()),
    );
    return {
      ten_ms: ten.time,
      hundred_ms: hundred.time,
      programs_ms: programs.time,
      fork_ms: fork.time,
      cpu_ms: { ten: ten.cpu, hundred: hundred.cpu, programs: programs.cpu, fork: fork.cpu },
    };
  } finally {
    golden.close();
  }
}
