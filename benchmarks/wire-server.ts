/** A server in a process of its own, for benchmarks of the wire. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface BenchmarkServer {
  url: string;
  /** Processor time that it has used, all threads together, microseconds; null where the host does not say. */
  processorUs(): number | null;
  /** The most resident memory that it has had, KiB; null where the host does not say. */
  peakKib(): number | null;
  stop(): Promise<void>;
}

export async function startServer(launcher: string, words: readonly string[]): Promise<BenchmarkServer> {
  const common = ["--port", "0", "--json", "--log-level", "warn", "--drain", "0", "--stop-with-stdin"];
  const server = spawn(process.execPath, [launcher, "serve", ...common, ...words], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  return {
    url: await firstUrl(server),
    processorUs: () => processorUs(server.pid ?? 0),
    peakKib: () => peakKib(server.pid ?? 0),
    async stop() {
      // Its standard input ends with it, so that the server goes even if this process is killed.
      server.stdin.end();
      if (server.exitCode === null) await new Promise((resolve) => server.once("exit", resolve));
    },
  };
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

/** Clock ticks of `/proc/PID/stat` are hundredths of a second on every Linux that Node runs on. */
const tickUs = 10_000;

function processorUs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickUs;
  } catch {
    return null;
  }
}

/** The most resident memory that a process has had, KiB; null without `/proc`. */
export function peakKib(process: number | "self"): number | null {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${process}/status`, "utf8"))?.[1]);
  } catch {
    return null;
  }
}
