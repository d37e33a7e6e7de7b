import type { Command } from "commander";
import type { Sandbox } from "../../sandbox/sandbox.js";
import { loadBenchmark } from "../benchmark.js";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { memoryKind, share } from "../options.js";
import { closeGrader, evaluateMix, prepareMix } from "../mixed-checks.js";

export interface Spread {
  p50: number;
  p99: number;
}

interface ForkFigures {
  fork_us: Spread;
  nested_fork_us: Spread;
  nested_fork_pages: Spread;
  ready_ms: Spread;
  first_step_ms: Spread;
  bulk100_ms: number;
  loaded: { first_ready_ms: number; bulk100_ms: number };
  bulk1000: { ms: number; rss_mib: number; growth_mib: number };
  step_true_ms: Spread;
  checkpoint_us: Spread;
  checkpoint_pages: Spread;
  evaluate10_ms: Spread | null;
  close_us: Spread;
}

interface ForkReport {
  golden_mib: number;
  memory: Partial<Record<MemoryKind, ForkFigures>>;
  baseline: { spawn_true_ms: Spread; fork2_us: Spread; fork2_huge_us: Spread; copy_ms: Spread };
}

interface ForkModule {
  benchFork(options: Record<string, unknown>): Promise<ForkReport>;
}

export function define(command: Command): void {
  command
    .option("--image <name>", "image of the machine", "shell")
    .option("--effort <x>", "share of the default number of samples", share, 1)
    .option("--memory <kind>", "guest memory: soft or uffd; both, side by side, if unsaid", memoryKind)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench fork --json")
    .action(benchFork);
}

async function benchFork(options: {
  image: string;
  effort: number;
  memory?: MemoryKind;
  json?: boolean;
}): Promise<void> {
  const { MicrovmProvider } = await import("../../sandbox/microvm/provider.js");
  const module = await loadBenchmark<ForkModule>("fork");
  const kinds: MemoryKind[] = options.memory === undefined ? ["soft", "uffd"] : [options.memory];
  try {
    const result = await module.benchFork({
      kinds,
      open: (memory: MemoryKind) => new MicrovmProvider({ memory }),
      image: options.image,
      effort: options.effort,
      evaluate10: {
        prepare: (sandbox: Sandbox) => prepareMix("ten", sandbox),
        evaluate: (sandbox: Sandbox) => evaluateMix("ten", sandbox),
      },
      onProgress: (line: string) => process.stderr.write(`${line}\n`),
    });
    process.stdout.write(options.json === true ? `${JSON.stringify(result)}\n` : render(result));
  } finally {
    await closeGrader();
  }
}

function render({ golden_mib, memory, baseline }: ForkReport): string {
  const row = (name: string, spread: Spread | null, unit: string): string =>
    `${name.padEnd(28)} ${spread === null ? "-" : `p50 ${spread.p50} p99 ${spread.p99} ${unit}`}`;
  const figures = Object.entries(memory).flatMap(([kind, of]) => [
    `${kind} memory`,
    row("host fork", of.fork_us, "us"),
    row("fork of a dirty fork", of.nested_fork_us, "us"),
    row("pages that it had written", of.nested_fork_pages, "pages"),
    row("fork to ready", of.ready_ms, "ms"),
    row("first step: true", of.first_step_ms, "ms"),
    `${"100 forks ready".padEnd(28)} ${of.bulk100_ms} ms (golden just loaded: ${of.loaded.bulk100_ms} ms)`,
    `${"golden from file to ready".padEnd(28)} ${of.loaded.first_ready_ms} ms`,
    `${"1,000 forks ready".padEnd(28)} ${of.bulk1000.ms} ms, process ${of.bulk1000.rss_mib} MiB (${of.bulk1000.growth_mib} more than without)`,
    row("step with true", of.step_true_ms, "ms"),
    row("checkpoint of that step", of.checkpoint_us, "us"),
    row("pages that it changed", of.checkpoint_pages, "pages"),
    row("evaluate with ten checks", of.evaluate10_ms, "ms"),
    row("close", of.close_us, "us"),
  ]);
  return [
    `golden ${golden_mib} MiB`,
    ...figures,
    row("baseline: spawn /bin/true", baseline.spawn_true_ms, "ms"),
    row("baseline: fork(2)", baseline.fork2_us, "us"),
    row("baseline: fork(2), 2 MiB", baseline.fork2_huge_us, "us"),
    row("baseline: plain copy", baseline.copy_ms, "ms"),
    "",
  ].join("\n");
}
