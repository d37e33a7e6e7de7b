/** One command from start to end, its output gathered. */
import { ShinkenError } from "../../errors/index.js";
import type { ExecRequest, ExecResult } from "../sandbox.js";
import {
  defaultOutputBytes,
  type ExecExtras,
  execFields,
  execResult,
  guestLimit,
  InputQueue,
  maxOutputBytes,
  OutputPair,
  toBytes,
} from "./command.js";
import { protocolError } from "./failures.js";
import { encodeFrame, type Frame, inputFrames, Kind, Op } from "./frame.js";
import { type AgentLink, type ExchangeOptions, payloadOf } from "./link.js";
import { execReply } from "./replies.js";
import { allowance, replyValue } from "./request.js";

/** Runs `request` and settles with its result. Rejects with `guest_error` if the command could not be started. */
export async function exec(
  link: AgentLink,
  request: ExecRequest,
  extras: ExecExtras,
  limits: ExchangeOptions,
): Promise<ExecResult> {
  const kept = request.maxOutputBytes ?? defaultOutputBytes;
  if (!Number.isSafeInteger(kept) || kept < 0 || kept > maxOutputBytes) {
    throw new ShinkenError("bad_request", `maxOutputBytes is 0 to ${maxOutputBytes}.`, {
      path: "maxOutputBytes",
    });
  }
  const output = new OutputPair(kept);
  const credit = 2 * kept;
  const allowed = allowance(credit);
  const stdin = toBytes(request.stdin);
  const input = new InputQueue();
  if (stdin !== undefined) input.push(stdin);
  input.end();
  let reply: Frame | undefined;
  const feed = (): Uint8Array[] =>
    stdin === undefined
      ? []
      : [...input.take()].flatMap((piece) => inputFrames(stream, piece.bytes, piece.end));
  const stream = link.open({
    onData: (channel, bytes) => {
      allowed.spend(bytes.length);
      output.add(channel, bytes);
    },
    onCredit: (bytes) => {
      input.credit(bytes);
      for (const frame of feed()) link.post(frame);
    },
    onReply: (frame) => {
      reply = frame;
    },
  });
  try {
    const payload = payloadOf(execFields(request, { ...extras, stdin: stdin !== undefined, output: kept }));
    const first = encodeFrame({ kind: Kind.request, stream, op: Op.exec, credit, payload });
    await link.exchange(stream, () => [first, ...feed()], {
      maxGuestMs: guestLimit(request.timeoutMs),
      ...limits,
    });
  } finally {
    link.forget(stream);
  }
  if (reply === undefined) throw protocolError("an exchange without its reply");
  return execResult(replyValue(`exec ${request.argv[0] ?? ""}`, execReply, reply), output);
}
