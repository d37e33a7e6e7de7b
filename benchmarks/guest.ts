/** `shinken bench guest`: how fast guest code runs, on a loop and on what people really start. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../src/images/assets.js";
import { type ImageInfo, openImage } from "../src/images/index.js";
import { AgentClient } from "../src/sandbox/agent/index.js";
import { loadAddon } from "../src/sandbox/microvm/addon.js";
import { disksOf } from "../src/sandbox/microvm/boot.js";
import { runProgram } from "../src/sandbox/microvm/program.js";
import { MachineTransport } from "../src/sandbox/microvm/transport.js";
import type { ExecRequest, SandboxProvider } from "../src/sandbox/sandbox.js";
import { baseline } from "./baseline.js";
import { execMix, type Mix, mips } from "./exec-mix.js";
import { type QemuMode, qemuVersion, withQemu } from "./qemu.js";
import { hostFacts, type Median, median, rounded } from "./statistics.js";

const run = promisify(execFile);

type MixTimes = Mix["times"];

export interface GuestBenchmark {
  host: Record<string, unknown>;
  /** Million guest instructions a second on the loop. */
  mips: Median;
  /** The same loop compiled for the host: the guest's instruction count divided by the host's time. */
  native_mops: Median;
  exec_mix: { mips: Median } & MixTimes;
  /** From power on to an agent that answers. */
  boot_ready_ms: Median;
  /** The same image and commands there, or null where it is not installed; `mips` is our count of instructions over its time. */
  qemu: ({ version: string } & Record<QemuMode, QemuFigures>) | null;
}

interface QemuFigures extends MixTimes {
  mips: Median;
  boot_ready_ms: number;
}

export interface GuestBenchmarkOptions {
  provider: SandboxProvider;
  image?: string | undefined;
  effort?: number | undefined;
  /** False: leaves QEMU out also where it is installed. */
  qemu?: boolean | undefined;
  onProgress?: ((line: string) => void) | undefined;
}

/** Million rounds of the loop in one run, and runs. */
const LOOP_MILLIONS = 20;
const LOOP_RUNS = 5;
const BOOT_RUNS = 3;
/** QEMU is given fewer runs: it is slower, and its median settles sooner. */
const QEMU_SHARE = 0.1;
const BOOT_WALL_MS = 600_000;

/** Compiles the loop for the guest with the agent's cross compiler. */
async function compileLoop(folder: string, rounds: number): Promise<string> {
  const root = packageRoot();
  const output = join(folder, "loop.elf");
  const flags = [
    "-O2",
    "-nostdlib",
    "-nostartfiles",
    "-static",
    "-fno-pic",
    "-mcmodel=medany",
    "-march=rv64gc",
  ];
  const layout = ["-Wl,-Ttext=0x80200000", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments"];
  const source = join(root, "benchmarks", "native", "guest_loop.c");
  await run(join(root, "scripts", "cross-cc.sh"), [
    ...flags,
    ...layout,
    `-DROUNDS=${rounds}`,
    source,
    "-o",
    output,
  ]);
  return output;
}

async function loop(effort: number): Promise<{ mips: number[]; native: number[] }> {
  const folder = await mkdtemp(join(tmpdir(), "shinken-bench-"));
  const millions = Math.max(1, Math.round(LOOP_MILLIONS * effort));
  try {
    // Loading and the end are in an empty run as well: what remains is the loop.
    const empty = await compileLoop(folder, 0);
    const start = performance.now();
    const base = await runProgram({ program: empty, memoryMiB: 64 });
    const overhead = performance.now() - start;
    const program = await compileLoop(folder, millions * 1_000_000);
    const mips: number[] = [];
    const native: number[] = [];
    for (let i = 0; i < LOOP_RUNS; i++) {
      const begin = performance.now();
      const outcome = await runProgram({ program, memoryMiB: 64 });
      const ms = performance.now() - begin - overhead;
      if (outcome.exitCode !== 0) throw new Error(`the loop ended with ${outcome.reason}`);
      const instructions = outcome.instructions - base.instructions;
      mips.push(instructions / ms / 1000);
      const [ns] = await baseline("loop", millions, 1);
      native.push((instructions / (ns ?? Number.NaN)) * 1000);
    }
    return { mips, native };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Milliseconds from power on to an agent that answers. */
async function boot(image: ImageInfo, memoryMiB: number): Promise<number> {
  const start = performance.now();
  const native = await loadAddon().bootMachine({
    program: image.kernel,
    initrd: image.initrd,
    bootargs: image.appendBase,
    memoryMiB,
    disks: disksOf(image),
    rngSeed: new Uint8Array(32),
    generationId: new Uint8Array(16),
    mac: Uint8Array.of(2, 0, 0, 0, 0, 1),
  });
  try {
    const limits = { maxGuestMs: BOOT_WALL_MS, wallMs: BOOT_WALL_MS };
    await new AgentClient(new MachineTransport(native, limits)).hello(limits);
    return performance.now() - start;
  } finally {
    await native.close();
  }
}

/** The mix in QEMU, rated by the instructions that ours counted. */
function inQemu(
  image: ImageInfo,
  mode: QemuMode,
  ours: Mix,
  times: (count: number) => number,
): Promise<QemuFigures> {
  return withQemu(image, mode, async (agent, bootMs) => {
    const guest = { exec: (request: ExecRequest) => agent.exec(request), instructions: () => Number.NaN };
    const mix = await execMix(guest, (count) => Math.max(3, Math.round(times(count) * QEMU_SHARE)));
    return { mips: { p50: rounded(mips(mix, ours)) }, boot_ready_ms: rounded(bootMs), ...mix.times };
  });
}

/** Loop and exec mix, the native loop in turn with the guest's, and QEMU's mix in the same run. */
export async function benchGuest(options: GuestBenchmarkOptions): Promise<GuestBenchmark> {
  const effort = options.effort ?? 1;
  const say = options.onProgress ?? ((): void => undefined);
  const times = (count: number): number => Math.max(3, Math.round(count * effort));
  say("loop");
  const rates = await loop(effort);
  const name = options.image ?? "shell";
  const golden = await options.provider.imageGolden(name, { onProgress: say });
  const sandbox = await golden.fork();
  try {
    say("exec mix");
    const guest = {
      exec: (request: ExecRequest) => sandbox.exec(request),
      instructions: () => sandbox.stats().instructions,
    };
    const mix = await execMix(guest, times);
    say("boot");
    const image = openImage(name);
    const boots: number[] = [];
    for (let i = 0; i < BOOT_RUNS; i++) boots.push(await boot(image, golden.memoryBytes / 1024 ** 2));
    let qemu: GuestBenchmark["qemu"] = null;
    const version = options.qemu === false ? null : await qemuVersion();
    if (version !== null) {
      say("QEMU");
      const plain = await inQemu(image, "plain", mix, times);
      say("QEMU, counting instructions");
      qemu = { version, plain, icount: await inQemu(image, "icount", mix, times) };
    }
    return {
      host: hostFacts(),
      mips: median(rates.mips),
      native_mops: median(rates.native),
      exec_mix: { mips: { p50: rounded(mips(mix)) }, ...mix.times },
      boot_ready_ms: median(boots),
      qemu,
    };
  } finally {
    await sandbox.close();
    golden.close();
  }
}
