/** `shinken bench scale`: what a fork costs as the golden grows, and as the number of living children does. */
import type { Golden, Sandbox } from "../src/sandbox/sandbox.js";
import { baseline } from "./baseline.js";
import { bulk, type ForkProvider, hostForks, type MemoryKind, MICROSECONDS, readyForks } from "./sampling.js";
import { hostFacts, rounded, type Spread, spread } from "./statistics.js";

export interface SizeFigures {
  /** Pages of the golden that are not all zeros. */
  golden_mib: number;
  memory: Partial<Record<MemoryKind, { fork_us: Spread; ready_ms: Spread }>>;
  baseline: { fork2_us: Spread; fork2_huge_us: Spread; copy_us: Spread };
}

export interface ChildrenFigures {
  children: number;
  /** A string says why there is no figure. */
  memory: Partial<Record<MemoryKind, { ms: number; growth_mib: number; kib_per_child: number } | string>>;
}

export interface ScaleBenchmark {
  host: Record<string, unknown>;
  sizes: SizeFigures[];
  children: ChildrenFigures[];
}

export interface ScaleBenchmarkOptions {
  kinds: readonly MemoryKind[];
  /** A provider whose machines have that memory; whoever opens it closes it. */
  open: (kind: MemoryKind) => ForkProvider;
  image?: string | undefined;
  /** MiB that a golden's content has at least; nothing is added below what the image itself has. */
  sizes: readonly number[];
  /** Numbers of children that live at once. */
  children: readonly number[];
  /** Scales the number of samples; 1 is 1,000 forks for each size. */
  effort?: number | undefined;
  onProgress?: ((line: string) => void) | undefined;
}

/** Guest memory beside the filling: what the image itself needs, and room for the kernel's tables. */
const SPARE_MIB = 512;
/** Forks that are on their way at a time. */
const AT_ONCE = 64;

/** Fills the guest's memory with pages of which no two are equal. */
const FILL = `
import sys
tail = bytes(range(256)) * 16
with open("/dev/shm/filling", "wb", buffering=0) as out:
    for mib in range(int(sys.argv[1])):
        out.write(b"".join((mib * 256 + i + 1).to_bytes(8, "little") + tail[8:] for i in range(256)))
`;

async function fill(sandbox: Sandbox, mib: number): Promise<void> {
  const limits = { user: "root", timeoutMs: 600_000 };
  for (const argv of [
    ["mount", "-o", "remount,size=95%", "/dev/shm"],
    ["python3", "-c", FILL, String(mib)],
  ]) {
    const { exitCode, stderr } = await sandbox.exec({ argv, ...limits });
    if (exitCode !== 0) throw new Error(`${argv[0]}: ${Buffer.from(stderr).toString()}`);
  }
}

/** A golden whose content has about `mib`. */
async function goldenOf(provider: ForkProvider, image: string, mib: number): Promise<Golden> {
  const plain = await provider.imageGolden(image);
  const missing = mib - Math.round(provider.storedBytes(plain) / 1024 ** 2);
  if (missing <= 0) return plain;
  plain.close();
  return provider.setupGolden(image, `bench scale ${missing}`, (sandbox) => fill(sandbox, missing), {
    memoryMiB: SPARE_MIB + mib,
  });
}

async function ofSize(
  options: ScaleBenchmarkOptions,
  mib: number,
  times: (n: number) => number,
): Promise<SizeFigures> {
  const memory: SizeFigures["memory"] = {};
  let stored = 0;
  for (const kind of options.kinds) {
    const provider = options.open(kind);
    try {
      const golden = await goldenOf(provider, options.image ?? "shell", mib);
      stored = provider.storedBytes(golden) / 1024 ** 2;
      await readyForks(golden, 1);
      const forks = await hostForks(provider, golden, times(1000));
      const { ready } = await readyForks(golden, times(1000));
      memory[kind] = { fork_us: spread(forks.map((ms) => ms * MICROSECONDS)), ready_ms: spread(ready) };
      golden.close();
    } finally {
      await provider.close();
    }
  }
  const microseconds = async (kind: "fork" | "fork-huge" | "copy", repeat: number): Promise<Spread> =>
    spread((await baseline(kind, Math.round(stored), times(repeat))).map((ns) => ns / 1000));
  return {
    golden_mib: rounded(stored),
    memory,
    baseline: {
      fork2_us: await microseconds("fork", 20),
      fork2_huge_us: await microseconds("fork-huge", 20),
      copy_us: await microseconds("copy", 5),
    },
  };
}

async function ofChildren(options: ScaleBenchmarkOptions, children: number): Promise<ChildrenFigures> {
  const memory: ChildrenFigures["memory"] = {};
  for (const kind of options.kinds) {
    const provider = options.open(kind);
    try {
      const golden = await provider.imageGolden(options.image ?? "shell");
      await readyForks(golden, 1);
      const { ms, growthMiB, kib } = await bulk(golden, children, AT_ONCE);
      memory[kind] = { ms: rounded(ms), growth_mib: rounded(growthMiB), kib_per_child: rounded(kib) };
      golden.close();
    } catch (error) {
      memory[kind] = error instanceof Error ? error.message : String(error);
    } finally {
      await provider.close();
    }
  }
  return { children, memory };
}

/** Everything of the scale benchmark, one size and one number of children after the other. */
export async function benchScale(options: ScaleBenchmarkOptions): Promise<ScaleBenchmark> {
  const times = (count: number): number => Math.max(3, Math.round(count * (options.effort ?? 1)));
  const sizes: SizeFigures[] = [];
  for (const mib of options.sizes) {
    options.onProgress?.(`golden of ${mib} MiB`);
    sizes.push(await ofSize(options, mib, times));
  }
  const children: ChildrenFigures[] = [];
  for (const count of options.children) {
    options.onProgress?.(`${count} children`);
    children.push(await ofChildren(options, count));
  }
  return { host: hostFacts(), sizes, children };
}
