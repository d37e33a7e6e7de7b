/** One command in a namespace, to its end, its time limit or its cancel. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import * as os from "node:os";
import { ShinkenError } from "../../../src/errors/index.js";
import type { ExecRequest, ExecResult } from "../../../src/sandbox/sandbox.js";

/** The longest that a command may take in real time, milliseconds, whatever its limit in guest time is. */
const longestMs = 2_000;

const guestEnv = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/home/agent",
  USER: "agent",
  LANG: "C.UTF-8",
  TERM: "dumb",
};

export function environmentOf(request: ExecRequest): NodeJS.ProcessEnv {
  return request.cleanEnv === true ? { ...request.env } : { ...guestEnv, ...request.env };
}

export class HostCommand {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #request: ExecRequest;
  #ended: "itself" | "cancelled" | "timed out" = "itself";

  constructor(child: ChildProcessWithoutNullStreams, request: ExecRequest) {
    this.#child = child;
    this.#request = request;
  }

  cancel(): void {
    this.#end("cancelled");
  }

  #end(why: "cancelled" | "timed out"): void {
    this.#ended = why;
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, "SIGKILL");
  }

  async result(limitMs: number): Promise<ExecResult> {
    const child = this.#child;
    const keep = this.#request.maxOutputBytes ?? 1024 * 1024;
    const stdout = collect(child.stdout, keep);
    const stderr = collect(child.stderr, keep);
    child.stdin.on("error", () => undefined);
    child.stdin.end(this.#request.stdin ?? "");
    const timer = setTimeout(() => this.#end("timed out"), Math.min(limitMs, longestMs));
    const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      // "exit" and not "close": a background job may hold the pipes open.
      child.once("exit", (code, killed) => setTimeout(() => resolve([code, killed]), 20));
    });
    clearTimeout(timer);
    child.stdout.destroy();
    child.stderr.destroy();
    if (this.#ended === "cancelled") throw new ShinkenError("cancelled", "the command was cancelled");
    if (exitCode === 127 && /env: .*No such file/.test(Buffer.concat(stderr.kept).toString())) {
      throw new ShinkenError("guest_error", `exec ${this.#request.argv[0]}: ENOENT`);
    }
    const timedOut = this.#ended === "timed out";
    return {
      exitCode: timedOut ? null : exitCode,
      signal: timedOut ? 9 : signal === null ? null : os.constants.signals[signal],
      timedOut,
      oomKilled: false,
      stdout: Buffer.concat(stdout.kept),
      stderr: Buffer.concat(stderr.kept),
      stdoutDropped: stdout.dropped,
      stderrDropped: stderr.dropped,
      guestMs: 1,
    };
  }
}

function collect(stream: NodeJS.ReadableStream, keep: number): { kept: Buffer[]; dropped: number } {
  const state = { kept: [] as Buffer[], dropped: 0, size: 0 };
  stream.on("data", (chunk: Buffer) => {
    const room = Math.max(0, keep - state.size);
    if (room > 0) state.kept.push(chunk.subarray(0, room));
    state.size += Math.min(room, chunk.length);
    state.dropped += Math.max(0, chunk.length - room);
  });
  return state;
}
