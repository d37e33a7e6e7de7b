/** Commands: requests and results of `exec`. */
import type { z } from "zod";
import type { ExecRequest, ExecResult } from "../sandbox.js";
import { protocolError } from "./failures.js";
import { Channel, dataBytes, joined } from "./frame.js";
import type { execReply } from "./replies.js";

/** The user that commands run as if the request does not say. */
export const defaultUser = "agent";
/** Bytes kept of each output if the request does not say. */
export const defaultOutputBytes = 1 << 20;
/** No request may ask to keep more than this of each output. */
export const maxOutputBytes = 256 << 20;
/** Bytes of standard input that may be under way before the agent allows more. */
export const stdinWindow = 262_144;
/** Bytes of a stream's input that may wait on the host before its writer is asked to wait. */
export const inputHighWater = 1 << 20;
/** Bytes that are still waiting when the writer is asked to go on. */
export const inputLowWater = inputHighWater / 4;
/** Guest time beyond a command's own limit after which the agent must have answered. */
export const graceMs = 10_000;

const encoder = new TextEncoder();

export interface ExecExtras {
  /** Run from the read-only image; see docs/agent-protocol.md. */
  image?: boolean | undefined;
  terminal?: { columns: number; rows: number } | undefined;
  dialogue?: boolean | undefined;
}

export function toBytes(data: Uint8Array | string | undefined): Uint8Array | undefined {
  return typeof data === "string" ? encoder.encode(data) : data;
}

/** The fields of an `exec` request. `output` is what the agent keeps of each channel. */
export function execFields(
  request: ExecRequest,
  extras: ExecExtras & { stdin: boolean; output: number; spool?: number | undefined },
): Record<string, unknown> {
  return {
    argv: request.argv,
    cwd: request.cwd,
    env: request.env,
    clean: request.cleanEnv,
    user: request.user ?? defaultUser,
    timeout: request.timeoutMs === undefined ? undefined : Math.max(1, Math.ceil(request.timeoutMs)),
    output: extras.output,
    stdin: extras.stdin,
    spool: extras.spool,
    tty: extras.terminal === undefined ? undefined : [extras.terminal.columns, extras.terminal.rows],
    dialogue: extras.dialogue,
    image: extras.image,
  };
}

/** Guest time after which an exchange for the command is given up; undefined if it may run for ever. */
export function guestLimit(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined ? undefined : timeoutMs + graceMs;
}

/** Gathers the two outputs of a command. */
export class OutputPair {
  readonly #parts: [Uint8Array[], Uint8Array[]] = [[], []];
  readonly #kept = [0, 0] as [number, number];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(channel: number, bytes: Uint8Array): void {
    if (channel !== Channel.stdout && channel !== Channel.stderr)
      throw protocolError(`output on channel ${channel}`);
    const index = channel === Channel.stdout ? 0 : 1;
    this.#kept[index] += bytes.length;
    if (this.#kept[index] > this.#limit) throw protocolError("more output than was asked for");
    this.#parts[index].push(bytes.slice());
  }

  get stdout(): Uint8Array {
    return joined(this.#parts[0]);
  }

  get stderr(): Uint8Array {
    return joined(this.#parts[1]);
  }
}

export function execResult(
  reply: z.infer<typeof execReply>,
  output: { stdout: Uint8Array; stderr: Uint8Array },
): ExecResult {
  return {
    exitCode: reply.exit,
    signal: reply.signal,
    timedOut: reply.timedOut,
    oomKilled: reply.oomKilled,
    stdout: output.stdout,
    stderr: output.stderr,
    stdoutDropped: reply.dropped[0],
    stderrDropped: reply.dropped[1],
    guestMs: reply.us / 1000,
  };
}

/**
 * Standard input on its way to a command: hands out what the agent's allowance permits.
 */
export class InputQueue {
  readonly #parts: Uint8Array[] = [];
  #allowed = stdinWindow;
  #waiting = 0;
  #ended = false;
  #endSent = false;

  push(bytes: Uint8Array): void {
    if (this.#ended || bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#waiting += bytes.length;
  }

  /** Bytes that have not been handed out. */
  get waiting(): number {
    return this.#waiting;
  }

  end(): void {
    this.#ended = true;
  }

  credit(bytes: number): void {
    this.#allowed += bytes;
  }

  /** Bytes that may go now. */
  get allowed(): number {
    return this.#allowed;
  }

  /** Pieces that may go now, each at most a data frame long; `end` marks the very last. */
  *take(): Generator<{ bytes: Uint8Array; end: boolean }> {
    while (this.#parts.length > 0 && this.#allowed > 0) {
      const first = this.#parts[0] as Uint8Array;
      const piece = first.subarray(0, Math.min(first.length, this.#allowed, dataBytes));
      if (piece.length === first.length) this.#parts.shift();
      else this.#parts[0] = first.subarray(piece.length);
      this.#allowed -= piece.length;
      this.#waiting -= piece.length;
      yield { bytes: piece, end: this.#finished() };
    }
    if (this.#finished()) yield { bytes: new Uint8Array(0), end: true };
  }

  #finished(): boolean {
    if (!this.#ended || this.#endSent || this.#parts.length > 0) return false;
    this.#endSent = true;
    return true;
  }
}
