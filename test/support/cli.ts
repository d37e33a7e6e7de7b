/** The command line as a user starts it: `bin/shinken` in a process of its own. It must have been built. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const launcher = join(root, "bin", "shinken");

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliOptions {
  env?: NodeJS.ProcessEnv;
  input?: string;
}

export function startCli(words: readonly string[], options: CliOptions = {}): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [launcher, ...words], { env: { ...process.env, ...options.env } });
}

export function finished(child: ChildProcessWithoutNullStreams): Promise<Finished> {
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  return new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, ...output }));
  });
}

/** Runs a command to its end. */
export function cli(words: readonly string[], options: CliOptions = {}): Promise<Finished> {
  const child = startCli(words, options);
  const result = finished(child);
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  return result;
}

/** Names of all fields of a JSON value, those of what it holds included. */
export function namesOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(namesOf);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}
