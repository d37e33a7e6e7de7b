/** One command from start to end, its output gathered. */
import { ShinkenError } from "../../errors/index.js";
import type { ExecRequest, ExecResult } from "../sandbox.js";
import {
  defaultOutputBytes,
  type ExecExtras,
  execFields,
  execResult,
  guestLimit,
  maxOutputBytes,
  OutputPair,
  stdinWindow,
  toBytes,
} from "./command.js";
import { maxFileBytes } from "./files.js";
import { encodeFrame, type Frame, inputFrames, Kind, Op } from "./frame.js";
import { type AgentLink, type ExchangeOptions, payloadOf } from "./link.js";
import { execReply, writeReply } from "./replies.js";
import { replyValue, request } from "./request.js";

/**
 * Runs `command` and settles with its result. Rejects with `guest_error` if it could not be started. All of its input is
 * delivered before the machine runs: what fits the agent's window through a pipe, more as a file that was spooled ahead.
 */
export async function exec(
  link: AgentLink,
  command: ExecRequest,
  extras: ExecExtras,
  limits: ExchangeOptions,
): Promise<ExecResult> {
  const kept = command.maxOutputBytes ?? defaultOutputBytes;
  if (!Number.isSafeInteger(kept) || kept < 0 || kept > maxOutputBytes) {
    throw new ShinkenError("bad_request", `maxOutputBytes is 0 to ${maxOutputBytes}.`, {
      path: "maxOutputBytes",
    });
  }
  const what = `exec ${command.argv[0] ?? ""}`;
  const output = new OutputPair(kept);
  const stdin = toBytes(command.stdin);
  const spool = stdin !== undefined && stdin.length > stdinWindow ? new Spool(link, stdin) : undefined;
  const piped = spool === undefined ? stdin : undefined;
  const fields = execFields(command, {
    ...extras,
    stdin: piped !== undefined,
    output: kept,
    spool: spool?.stream,
  });
  try {
    const reply = await request(link, Op.exec, what, fields, execReply, {
      maxGuestMs: guestLimit(command.timeoutMs),
      ...limits,
      credit: 2 * kept,
      onData: (channel, bytes) => output.add(channel, bytes),
      before: () => spool?.frames() ?? [],
      following: (stream) => (piped === undefined ? [] : inputFrames(stream, piped, true)),
    });
    return execResult(reply, output);
  } catch (error) {
    // A spool that failed is the reason, the command without its input only the consequence.
    spool?.check(what);
    throw error;
  } finally {
    spool?.close();
  }
}

/** A command's input, written ahead of it. */
class Spool {
  readonly stream: number;
  readonly #link: AgentLink;
  readonly #bytes: Uint8Array;
  #reply: Frame | undefined;

  constructor(link: AgentLink, bytes: Uint8Array) {
    if (bytes.length > maxFileBytes) {
      throw new ShinkenError("too_large", `Standard input may hold ${maxFileBytes} bytes.`, {
        path: "stdin",
      });
    }
    this.#link = link;
    this.#bytes = bytes;
    this.stream = link.open({
      onReply: (frame) => {
        this.#reply = frame;
      },
    });
  }

  frames(): Uint8Array[] {
    const payload = payloadOf({ spool: true });
    return [
      encodeFrame({ kind: Kind.request, stream: this.stream, op: Op.write, payload }),
      ...inputFrames(this.stream, this.#bytes, true),
    ];
  }

  check(what: string): void {
    if (this.#reply !== undefined) replyValue(what, writeReply, this.#reply);
  }

  close(): void {
    this.#link.forget(this.stream);
  }
}
