import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { memoryKind, share } from "../options.js";
import type { Spread } from "./bench-fork.js";

type Median = Pick<Spread, "p50">;

interface GuestModule {
  benchGuest(options: Record<string, unknown>): Promise<{
    mips: Median;
    native_mops: Median;
    exec_mix: { mips: Median; true_ms: Median; python_ms: Median; git_status_ms: Median };
  }>;
}

export function define(command: Command): void {
  command
    .option("--image <name>", "image of the machine", "shell")
    .option("--effort <x>", "share of the default number of samples", share, 1)
    .option("--memory <kind>", "guest memory: soft (default) or uffd", memoryKind)
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench guest --json")
    .action(benchGuest);
}

async function benchGuest(options: {
  image: string;
  effort: number;
  memory?: "soft" | "uffd";
  json?: boolean;
}): Promise<void> {
  const { MicrovmProvider } = await import("../../sandbox/microvm/provider.js");
  const module = await loadBenchmark<GuestModule>("guest");
  const provider = new MicrovmProvider({ memory: options.memory });
  try {
    const result = await module.benchGuest({
      provider,
      image: options.image,
      effort: options.effort,
      onProgress: (line: string) => process.stderr.write(`${line}\n`),
    });
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify(result)}\n`);
      return;
    }
    const { exec_mix: mix } = result;
    process.stdout.write(
      [
        `loop          ${result.mips.p50} MIPS (native ${result.native_mops.p50} Mops)`,
        `exec mix      ${mix.mips.p50} MIPS`,
        `/bin/true     ${mix.true_ms.p50} ms`,
        `python3       ${mix.python_ms.p50} ms`,
        `git status    ${mix.git_status_ms.p50} ms`,
        "",
      ].join("\n"),
    );
  } finally {
    await provider.close();
  }
}
