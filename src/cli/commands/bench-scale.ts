import type { Command } from "commander";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { loadBenchmark } from "../benchmark.js";
import { integers, memoryKind, share } from "../options.js";

interface ScaleModule {
  benchScale: (options: Record<string, unknown>) => Promise<unknown>;
}

interface PlotModule {
  write: (report: unknown, folder: string) => void;
  tables: (report: unknown) => string;
}

export function define(command: Command): void {
  command
    .option("--image <name>", "image of the machines", "shell")
    .option("--sizes <mib,...>", "MiB of the goldens", integers(1, MAX_GOLDEN_MIB), [
      64,
      256,
      1024,
      MAX_GOLDEN_MIB,
    ])
    .option(
      "--children <n,...>",
      "numbers of children alive at once",
      integers(1, 100_000),
      [1, 10, 100, 1000, 10_000],
    )
    .option("--memory <kind>", "guest memory: soft or uffd; both, side by side, if unsaid", memoryKind)
    .option("--effort <x>", "share of 1,000 forks for each size", share, 1)
    .option("--write <folder>", "write the report, its tables and its pictures (SVG) there")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench scale --write docs/benchmarks")
    .action(benchScale);
}

/** A machine has at most 4 GiB, and a larger golden would leave its guest no room. */
const MAX_GOLDEN_MIB = 2048;

async function benchScale(options: {
  image: string;
  sizes: number[];
  children: number[];
  memory?: MemoryKind;
  effort: number;
  write?: string;
  json?: boolean;
}): Promise<void> {
  const { MicrovmProvider } = await import("../../sandbox/microvm/provider.js");
  const { benchScale: measure } = await loadBenchmark<ScaleModule>("scale");
  const kinds: MemoryKind[] = options.memory === undefined ? ["soft", "uffd"] : [options.memory];
  const report = await measure({
    kinds,
    open: (memory: MemoryKind) => new MicrovmProvider({ memory }),
    image: options.image,
    sizes: options.sizes,
    children: options.children,
    effort: options.effort,
    onProgress: (line: string) => process.stderr.write(`${line}\n`),
  });
  const plot = await loadBenchmark<PlotModule>("plot");
  if (options.write !== undefined) plot.write(report, options.write);
  process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : plot.tables(report));
}
