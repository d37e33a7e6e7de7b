import { spawn } from "node:child_process";
import { ShinkenError } from "../errors/index.js";

export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Bytes kept of a program's output; what is needed of it is far smaller. */
const maxCapturedBytes = 64 * 1024 * 1024;

function missing(program: string, cause: unknown): ShinkenError {
  return new ShinkenError("host_unsupported", `building an image needs the program ${program}`, {
    suggestion: `on Debian and Ubuntu: apt-get install ${debianPackage(program)}`,
    cause,
  });
}

function debianPackage(program: string): string {
  if (program.startsWith("apt")) return "apt";
  if (program.startsWith("dpkg")) return "dpkg";
  return program === "xz" ? "xz-utils" : program;
}

/**
 * Runs a program to its end and captures its output. A non-zero exit is a result, not an error.
 * Rejects with `host_unsupported` if the program does not exist.
 */
export function run(
  program: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: Uint8Array } = {},
): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: options.env ?? process.env, cwd: options.cwd, stdio: "pipe" });
    const kept: { stdout: Buffer[]; stderr: Buffer[]; bytes: number } = { stdout: [], stderr: [], bytes: 0 };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (chunk: Buffer) => {
        kept.bytes += chunk.length;
        if (kept.bytes <= maxCapturedBytes) kept[name].push(chunk);
      });
    }
    child.on("error", (error) => {
      reject(missing(program, error));
    });
    child.on("close", (code) => {
      resolve({
        code: code ?? -1,
        stdout: Buffer.concat(kept.stdout).toString("utf8"),
        stderr: Buffer.concat(kept.stderr).toString("utf8"),
      });
    });
    // A program may end before it has read its input; its exit code tells more than the broken pipe.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input);
  });
}

/**
 * A program's standard output as it comes. The consumer must drain it or leave the loop, which ends the program.
 * Throws `image_build_failed` after the last byte if the exit code is not 0.
 */
export async function* stream(
  program: string,
  args: readonly string[],
  input?: Uint8Array,
): AsyncGenerator<Buffer, void, void> {
  const child = spawn(program, args, { stdio: "pipe" });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < 4096) stderr += chunk.toString("utf8");
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const ended = new Promise<number>((resolve, reject) => {
    child.on("error", (error) => {
      reject(missing(program, error));
    });
    child.on("close", (code) => {
      resolve(code ?? -1);
    });
  });
  // Awaited below on every path that reads to the end; early leavers must not see an unhandled rejection.
  ended.catch(() => undefined);
  try {
    for await (const chunk of child.stdout) yield chunk as Buffer;
    const code = await ended;
    if (code !== 0) {
      throw new ShinkenError("image_build_failed", `${program} ${args.join(" ")} failed: ${stderr.trim()}`);
    }
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  }
}
