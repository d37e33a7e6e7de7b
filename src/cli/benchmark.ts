/** Benchmarks live outside `src` and are compiled when one is wanted; this finds, compiles and loads them. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ShinkenError } from "../errors/index.js";
import { packageRoot } from "./root.js";

const run = promisify(execFile);

/** The compiled file of a benchmark, made first if it is missing or older than its sources. */
export async function benchmarkFile(name: string): Promise<string> {
  const root = packageRoot();
  const file = join(root, "build", "benchmarks", "benchmarks", `${name}.js`);
  if (existsSync(file) && statSync(file).mtimeMs > newest([join(root, "benchmarks"), join(root, "src")]))
    return file;
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const project = join(root, "tsconfig.benchmarks.json");
  if (!existsSync(compiler) || !existsSync(project)) {
    throw new ShinkenError("host_unsupported", "benchmarks are compiled from the sources of a checkout", {
      suggestion: "clone the repository and run 'make build'",
    });
  }
  try {
    await run(process.execPath, [
      compiler,
      "-p",
      project,
      "--incremental",
      "false",
      "--tsBuildInfoFile",
      "null",
    ]);
  } catch (cause) {
    const { stdout } = cause as { stdout?: string };
    throw new ShinkenError("host_unsupported", `the benchmarks do not compile: ${stdout ?? String(cause)}`, {
      cause,
    });
  }
  return file;
}

/** A benchmark's module. */
export async function loadBenchmark<Module>(name: string): Promise<Module> {
  return (await import(pathToFileURL(await benchmarkFile(name)).href)) as Module;
}

/** Latest change of any TypeScript file below the folders, milliseconds. */
function newest(folders: readonly string[]): number {
  let latest = 0;
  for (const folder of folders) {
    for (const name of readdirSync(folder, { encoding: "utf8", recursive: true })) {
      if (name.endsWith(".ts")) latest = Math.max(latest, statSync(join(folder, name)).mtimeMs);
    }
  }
  return latest;
}
