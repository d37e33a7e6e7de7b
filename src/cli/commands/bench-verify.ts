import type { Command } from "commander";
import type { Sandbox } from "../../sandbox/sandbox.js";
import { loadBenchmark } from "../benchmark.js";
import { closeGrader, evaluateMix, type Mix, prepareMix } from "../mixed-checks.js";
import { share } from "../options.js";

interface Spread {
  p50: number;
  p99: number;
}

interface VerifyReport {
  ten_ms: Spread;
  hundred_ms: Spread;
  programs_ms: Spread;
  fork_ms: Spread;
  cpu_ms: { ten: number; hundred: number; programs: number; fork: number };
}

interface VerifyModule {
  benchVerify(options: Record<string, unknown>): Promise<VerifyReport>;
}

export function define(command: Command): void {
  command
    .option("--image <name>", "image of the machine", "shell")
    .option("--effort <x>", "share of the default number of samples", share, 1)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench verify --json")
    .action(benchVerify);
}

async function benchVerify(options: { image: string; effort: number; json?: boolean }): Promise<void> {
  const { MicrovmProvider } = await import("../../sandbox/microvm/provider.js");
  const module = await loadBenchmark<VerifyModule>("verify");
  const provider = new MicrovmProvider();
  try {
    const result = await module.benchVerify({
      provider,
      image: options.image,
      effort: options.effort,
      prepare: (mix: Mix, sandbox: Sandbox) => prepareMix(mix, sandbox),
      evaluate: (mix: Mix, sandbox: Sandbox) => evaluateMix(mix, sandbox),
      onProgress: (line: string) => process.stderr.write(`${line}\n`),
    });
    process.stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : render(result));
  } finally {
    await closeGrader();
    await provider.close();
  }
}

function render(report: VerifyReport): string {
  const row = (name: string, { p50, p99 }: Spread, cpu: number): string =>
    `${name.padEnd(46)} p50 ${p50} p99 ${p99} ms, ${(p50 / report.fork_ms.p50).toFixed(1)} times the fork; ${cpu} ms of processor time\n`;
  const { cpu_ms: cpu } = report;
  return (
    row("ten checks (6 files, 2 processes, 2 databases)", report.ten_ms, cpu.ten) +
    row("a hundred of the same mix", report.hundred_ms, cpu.hundred) +
    row("ten checks that run a program", report.programs_ms, cpu.programs) +
    row("baseline: a grade fork, closed at once", report.fork_ms, cpu.fork)
  );
}
