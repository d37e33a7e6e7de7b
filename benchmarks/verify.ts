/** What a verdict costs: mixed checks on a prepared machine, beside a grade fork that is closed at once. */
import type { Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";
import { sample, timed } from "./sampling.js";
import { type Spread, spread } from "./statistics.js";

export interface VerifyBenchmarkOptions {
  provider: SandboxProvider;
  image: string;
  /** Share of the samples. */
  effort: number;
  prepare(sandbox: Sandbox): Promise<void>;
  evaluate(mix: "ten" | "hundred" | "programs", sandbox: Sandbox): Promise<void>;
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
  const machine = await golden.fork();
  try {
    await options.prepare(machine);
    const of = async (name: string, count: number, work: () => Promise<void>): Promise<Spread> => {
      options.onProgress?.(name);
      for (let index = 0; index < WARM_UPS; index++) await work();
      return spread(await sample(name, times(count), () => timed(work)));
    };
    return {
      ten_ms: await of("ten checks", 300, () => options.evaluate("ten", machine)),
      hundred_ms: await of("a hundred checks", 100, () => options.evaluate("hundred", machine)),
      programs_ms: await of("ten programs", 50, () => options.evaluate("programs", machine)),
      fork_ms: await of("grade fork", 300, async () => (await machine.fork("grade")).close()),
    };
  } finally {
    await machine.close();
    golden.close();
  }
}
