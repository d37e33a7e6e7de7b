/** What a verdict costs: mixed checks on a prepared machine, beside a grade fork that is closed at once. */
import type { Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";
import { sample, timed } from "./sampling.js";
import { type Spread, spread } from "./statistics.js";

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
}

const WARM_UPS = 5;

/** Measures with a warm golden and warm verifier threads. Rejects unless every check passes every time. */
export async function benchVerify(options: VerifyBenchmarkOptions): Promise<VerifyReport> {
  const times = (count: number): number => Math.max(3, Math.round(count * options.effort));
  const golden = await options.provider.imageGolden(options.image, {});
  /** A machine of its own, with what its mix looks for and nothing else. */
  const withMachine = async (work: (machine: Sandbox) => Promise<Spread>): Promise<Spread> => {
    const machine = await golden.fork();
    try {
      return await work(machine);
    } finally {
      await machine.close();
    }
  };
  const of = async (name: string, count: number, work: () => Promise<void>): Promise<Spread> => {
    options.onProgress?.(name);
    for (let index = 0; index < WARM_UPS; index++) await work();
    return spread(await sample(name, times(count), () => timed(work)));
  };
  const ofMix = (mix: Mix, name: string, count: number): Promise<Spread> =>
    withMachine(async (machine) => {
      await options.prepare(mix, machine);
      return of(name, count, () => options.evaluate(mix, machine));
    });
  try {
    return {
      ten_ms: await ofMix("ten", "ten checks", 300),
      hundred_ms: await ofMix("hundred", "a hundred checks", 100),
      programs_ms: await ofMix("programs", "ten programs", 50),
      fork_ms: await withMachine((machine) =>
        of("grade fork", 300, async () => (await machine.fork("grade")).close()),
      ),
    };
  } finally {
    golden.close();
  }
}
