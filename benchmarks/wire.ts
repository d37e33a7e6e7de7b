/** `shinken bench wire`: steps over loopback on echo sessions. Server and load client are processes of their own. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hostFacts } from "./statistics.js";
import type { WireLoad } from "./wire-load.js";

const run = promisify(execFile);

export interface WireBenchmarkOptions {
  /** The `shinken` command. */
  launcher: string;
  /** Numbers of sessions; default 1, 8, 64 and 1,000. */
  sessions?: readonly number[] | undefined;
  /** Seconds for each. */
  seconds: number;
  onProgress?: ((line: string) => void) | undefined;
}

export interface WireBenchmark {
  host: Record<string, unknown>;
  sessions: Record<string, WireLoad>;
}

const defaultSessions = [1, 8, 64, 1000];

export async function benchmarkWire(options: WireBenchmarkOptions): Promise<WireBenchmark> {
  const server = spawn(
    process.execPath,
    [
      options.launcher,
      "serve",
      "--port",
      "0",
      "--json",
      "--log-level",
      "warn",
      "--drain",
      "0",
      "--stop-with-stdin",
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  try {
    const url = await firstUrl(server);
    const sessions: Record<string, WireLoad> = {};
    for (const count of options.sessions ?? defaultSessions) {
      const load = await runLoad(url, count, options.seconds);
      sessions[String(count)] = load;
      options.onProgress?.(
        `${count} sessions: ${Math.round(load.steps_per_s)} steps/s, p99 ${load.p99_ms} ms`,
      );
    }
    return { host: hostFacts(), sessions };
  } finally {
    // Its standard input ends with it, so that the server goes even if this process is killed.
    server.stdin.end();
    if (server.exitCode === null) await new Promise((resolve) => server.once("exit", resolve));
  }
}

async function runLoad(url: string, sessions: number, seconds: number): Promise<WireLoad> {
  const client = join(dirname(fileURLToPath(import.meta.url)), "wire-load.js");
  const { stdout } = await run(process.execPath, [client, url, String(sessions), String(seconds)]);
  return JSON.parse(stdout) as WireLoad;
}

/** The server's first line says where it listens. */
function firstUrl(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("exit", (code) => {
      reject(new Error(`the server ended with exit code ${code} before it listened`));
    });
    if (server.stdout === null) throw new Error("the server has no standard output");
    createInterface(server.stdout).once("line", (line) => {
      resolve((JSON.parse(line) as { url: string }).url);
    });
  });
}
