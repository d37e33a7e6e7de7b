import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { integer } from "../options.js";

interface Report {
  resamples: number;
  shapes: Record<string, { p50: number; p99: number }>;
}

interface BootstrapModule {
  benchmarkBootstrap: (options: { samples: number; onProgress: (line: string) => void }) => Promise<Report>;
}

export function define(command: Command): void {
  command
    .option("--samples <n>", "intervals of each shape of run", integer(1, 1_000), 10)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench bootstrap --json")
    .action(benchBootstrap);
}

async function benchBootstrap(options: { samples: number; json?: boolean }): Promise<void> {
  const { benchmarkBootstrap } = await loadBenchmark<BootstrapModule>("bootstrap");
  const report = await benchmarkBootstrap({
    samples: options.samples,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : render(report));
}

function render({ resamples, shapes }: Report): string {
  const lines = Object.entries(shapes).map(
    ([name, { p50, p99 }]) => `${name.padEnd(38)} p50 ${p50} p99 ${p99} ms\n`,
  );
  return `an interval of ${resamples} resamples\n${lines.join("")}`;
}
