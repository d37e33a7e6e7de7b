/** What every benchmark reports: medians and 99th percentiles, and the host they came from. */
import { availableParallelism, cpus, release, totalmem } from "node:os";

export interface Spread {
  p50: number;
  p99: number;
}

export interface Median {
  p50: number;
}

/** Nearest-rank percentile of unsorted samples. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)));
  return sorted[rank - 1] ?? Number.NaN;
}

export function spread(samples: readonly number[]): Spread {
  return { p50: rounded(percentile(samples, 0.5)), p99: rounded(percentile(samples, 0.99)) };
}

export function median(samples: readonly number[]): Median {
  return { p50: rounded(percentile(samples, 0.5)) };
}

/** Four significant digits: more would claim a precision that no host here has. */
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

export function hostFacts(): Record<string, unknown> {
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memory_mib: Math.round(totalmem() / 1024 ** 2),
    platform: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
  };
}
