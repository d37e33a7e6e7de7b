/** A server in a process of its own, for commands that play against one. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ShinkenError } from "../errors/index.js";
import type { MemoryKind } from "../sandbox/microvm/addon.js";
import { launcher } from "./root.js";

export interface ServerProcess {
  url: string;
  /** Its exit code or signal, once it has gone, by `stop` or otherwise. */
  gone: Promise<number | string | null>;
  /** Ends it and waits until it has gone. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  /** Folder for bundles. */
  record?: string | undefined;
  recordStates?: boolean | undefined;
  port?: number;
  memory?: MemoryKind | undefined;
}

/** Starts `shinken serve` on a port, any free one if unsaid; it ends with this process, however that ends. */
export async function startServerProcess(
  tasks: string | undefined,
  { record, recordStates, port = 0, memory }: ServerProcessOptions = {},
): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [
      launcher(),
      "serve",
      "--port",
      String(port),
      ...(tasks === undefined ? [] : ["--tasks", tasks]),
      "--json",
      "--log-level",
      "warn",
      "--drain",
      "1",
      "--stop-with-stdin",
      ...(record === undefined ? [] : ["--record", record]),
      ...(recordStates === true ? ["--record-states"] : []),
      ...(memory === undefined ? [] : ["--memory", memory]),
    ],
    // In a group of its own: a Ctrl-C on the terminal is this process's to answer, which ends the server when it has done with it.
    { stdio: ["pipe", "pipe", "inherit"], detached: true },
  );
  const gone = new Promise<number | string | null>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal));
  });
  const lines = createInterface(child.stdout);
  const url = await new Promise<string>((resolve, reject) => {
    lines.once("line", (line) => {
      resolve((JSON.parse(line) as { url: string }).url);
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      reject(new ShinkenError("internal", `the server ended with exit code ${code} before it listened`));
    });
  });
  lines.close();
  child.stdout.resume();
  return {
    url,
    gone,
    async stop() {
      child.stdin.end();
      await gone;
    },
  };
}
