import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { memoryKind, share } from "../options.js";
import type { Spread } from "./bench-fork.js";

type Median = Pick<Spread, "p50">;

interface Mix {
  mips: Median;
  true_ms: Median;
  python_ms: Median;
  git_status_ms: Median;
  sqlite_ms: Median;
}

type QemuMix = Mix & { boot_ready_ms: number };

interface Report {
  mips: Median;
  native_mops: Median;
  exec_mix: Mix;
  boot_ready_ms: Median;
  qemu: { version: string; plain: QemuMix; icount: QemuMix } | null;
}

interface GuestModule {
  benchGuest(options: Record<string, unknown>): Promise<Report>;
}

export function define(command: Command): void {
  command
    .option("--image <name>", "image of the machine", "shell")
    .option("--effort <x>", "share of the default number of samples", share, 1)
    .option("--memory <kind>", "guest memory: soft (default) or uffd", memoryKind)
    .option("--no-qemu", "leave out QEMU, which is measured in the same run where it is installed")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken bench guest --json")
    .action(benchGuest);
}

async function benchGuest(options: {
  image: string;
  effort: number;
  memory?: "soft" | "uffd";
  qemu: boolean;
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
      qemu: options.qemu,
      onProgress: (line: string) => process.stderr.write(`${line}\n`),
    });
    if (options.json === true) {
      process.stdout.write(`${JSON.stringify(result)}\n`);
      return;
    }
    process.stdout.write(render(result));
  } finally {
    await provider.close();
  }
}

function render({ mips, native_mops, exec_mix, boot_ready_ms, qemu }: Report): string {
  const columns: [string, Mix & { boot: number }][] = [
    ["ours", { ...exec_mix, boot: boot_ready_ms.p50 }],
    ...(qemu === null
      ? []
      : (["plain", "icount"] as const).map((mode): [string, Mix & { boot: number }] => [
          `QEMU ${mode}`,
          { ...qemu[mode], boot: qemu[mode].boot_ready_ms },
        ])),
  ];
  const row = (name: string, of: (mix: Mix & { boot: number }) => number, unit: string): string =>
    `${name.padEnd(20)}${columns.map(([, mix]) => String(of(mix)).padStart(14)).join("")} ${unit}`;
  return [
    `loop ${mips.p50} MIPS (compiled for the host: ${native_mops.p50} Mops)`,
    qemu === null ? "QEMU is not measured: apt install qemu-system-misc to have it beside" : qemu.version,
    `${"".padEnd(20)}${columns.map(([name]) => name.padStart(14)).join("")}`,
    row("exec mix", (mix) => mix.mips.p50, "MIPS"),
    row("/bin/true", (mix) => mix.true_ms.p50, "ms"),
    row("python3", (mix) => mix.python_ms.p50, "ms"),
    row("git status", (mix) => mix.git_status_ms.p50, "ms"),
    row("sqlite, 100,000 rows", (mix) => mix.sqlite_ms.p50, "ms"),
    row("boot to ready", (mix) => mix.boot, "ms"),
    "",
  ].join("\n");
}
