/** `shinken bench guest`: how fast guest code runs, on a loop and on what people really start. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../src/images/assets.js";
import type { Sandbox, SandboxProvider } from "../src/sandbox/sandbox.js";
import { runProgram } from "../src/sandbox/microvm/program.js";
import { baseline } from "./baseline.js";
import { hostFacts, percentile, rounded } from "./statistics.js";

const run = promisify(execFile);

interface Median {
  p50: number;
}

export interface GuestBenchmark {
  host: Record<string, unknown>;
  /** Million guest instructions a second on the loop. */
  mips: Median;
  /** The same loop compiled for the host: the guest's instruction count divided by the host's time. */
  native_mops: Median;
  exec_mix: { mips: Median; true_ms: Median; python_ms: Median; git_status_ms: Median };
}

export interface GuestBenchmarkOptions {
  provider: SandboxProvider;
  image?: string | undefined;
  effort?: number | undefined;
  onProgress?: ((line: string) => void) | undefined;
}

/** Million rounds of the loop in one run, and runs. */
const LOOP_MILLIONS = 20;
const LOOP_RUNS = 5;
const TRUE_RUNS = 1000;
const PYTHON_RUNS = 20;
const GIT_RUNS = 20;

const median = (samples: readonly number[]): Median => ({ p50: rounded(percentile(samples, 0.5)) });

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

interface Taken {
  ms: number[];
  instructions: number;
}

async function repeat(sandbox: Sandbox, argv: string[], times: number, cwd?: string): Promise<Taken> {
  const ms: number[] = [];
  const before = sandbox.stats().instructions;
  for (let i = 0; i < times; i++) {
    const start = performance.now();
    const result = await sandbox.exec({ argv, cwd });
    ms.push(performance.now() - start);
    if (result.exitCode !== 0) {
      throw new Error(
        `${argv.join(" ")} ended with ${result.exitCode}: ${Buffer.from(result.stderr).toString()}`,
      );
    }
  }
  return { ms, instructions: sandbox.stats().instructions - before };
}

/** Loop and exec mix, the native loop in turn with the guest's. */
export async function benchGuest(options: GuestBenchmarkOptions): Promise<GuestBenchmark> {
  const effort = options.effort ?? 1;
  const say = options.onProgress ?? ((): void => undefined);
  const times = (count: number): number => Math.max(3, Math.round(count * effort));
  say("loop");
  const { mips, native } = await loop(effort);
  const golden = await options.provider.imageGolden(options.image ?? "shell", { onProgress: say });
  const sandbox = await golden.fork();
  try {
    const repository =
      "mkdir -p /tmp/repo && cd /tmp/repo && git init -q . && for i in $(seq 50); do echo $i > f$i; done && git add .";
    await repeat(sandbox, ["sh", "-c", repository], 1);
    say("exec mix");
    const trues = await repeat(sandbox, ["/bin/true"], times(TRUE_RUNS));
    const python = await repeat(sandbox, ["python3", "-c", "print(1)"], times(PYTHON_RUNS));
    const git = await repeat(sandbox, ["git", "status", "--short"], times(GIT_RUNS), "/tmp/repo");
    const parts = [trues, python, git];
    const total = parts.reduce((sum, part) => sum + part.instructions, 0);
    const ms = parts.reduce((sum, part) => sum + part.ms.reduce((a, b) => a + b, 0), 0);
    return {
      host: hostFacts(),
      mips: median(mips),
      native_mops: median(native),
      exec_mix: {
        mips: { p50: rounded(total / ms / 1000) },
        true_ms: median(trues.ms),
        python_ms: median(python.ms),
        git_status_ms: median(git.ms),
      },
    };
  } finally {
    await sandbox.close();
    golden.close();
  }
}
