import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { share } from "../options.js";

interface Report {
  parked: {
    machines: number;
    kib_each: number;
    dirty_kib_each: number;
    kib_each_without_caches: number;
    descriptors: number;
    mappings: number;
  };
  live: { machines: number; seconds: number; waited_ms_mean: number; ran_ms_mean: number };
  before_mib: number;
  after_close_mib: number;
}

interface MachinesModule {
  benchMachines(options: Record<string, unknown>): Promise<Report>;
}

export function define(command: Command): void {
  command
    .option("--image <name>", "image of the machines", "shell")
    .option("--effort <x>", "share of 10,000 parked and 1,000 working machines", share, 1)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench machines --effort 0.1 --json")
    .action(benchMachines);
}

async function benchMachines(options: { image: string; effort: number; json?: boolean }): Promise<void> {
  const { MicrovmProvider } = await import("../../sandbox/microvm/provider.js");
  const module = await loadBenchmark<MachinesModule>("machines");
  const provider = new MicrovmProvider();
  try {
    const result = await module.benchMachines({
      provider,
      image: options.image,
      effort: options.effort,
      onProgress: (line: string) => process.stderr.write(`${line}\n`),
    });
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify(result)}\n`);
      return;
    }
    const { parked, live } = result;
    process.stdout.write(
      [
        `parked        ${parked.machines} machines: ${parked.kib_each} KiB each, ${parked.dirty_kib_each} KiB of it written pages; ${parked.kib_each_without_caches} KiB without caches`,
        `              ${parked.descriptors} descriptors and ${parked.mappings} mappings for all of them`,
        `at work       ${live.machines} machines run true in ${live.seconds} s (waited ${live.waited_ms_mean} ms, ran ${live.ran_ms_mean} ms on the average)`,
        `after close   ${result.after_close_mib} MiB (${result.before_mib} MiB before)`,
        "",
      ].join("\n"),
    );
  } finally {
    await provider.close();
  }
}
