/** Plain operations of the host, measured by the C helper beside the addon. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../src/images/assets.js";

const run = promisify(execFile);

export type Baseline = "spawn" | "fork" | "fork-huge" | "copy" | "loop";

/** Nanoseconds of each of `repeat` measurements; `amount` is MiB, or million rounds of the loop. */
export async function baseline(kind: Baseline, amount: number, repeat: number): Promise<number[]> {
  const helper = join(packageRoot(), "build", "Release", "bench_baseline");
  if (!existsSync(helper)) throw new Error("build/Release/bench_baseline is missing: run `make build`");
  const { stdout } = await run(helper, [kind, String(amount), String(repeat)]);
  return stdout.trim().split("\n").map(Number);
}
