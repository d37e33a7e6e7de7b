/** A request with one reply, and perhaps data that comes with it. */
import type { z } from "zod";
import { GuestError, protocolError } from "./failures.js";
import { encodeFrame, Flag, type Frame, Kind } from "./frame.js";
import { type AgentLink, type ExchangeOptions, payloadOf } from "./link.js";
import { errorReply, parseReply } from "./replies.js";

export interface RequestOptions extends ExchangeOptions {
  /** Bytes of data that the agent may send; more is a breach of the protocol. */
  credit?: number | undefined;
  onData?: ((channel: number, bytes: Uint8Array) => void) | undefined;
  /** Frames that go ahead of the request, asked for when its turn has come. */
  before?: (() => Uint8Array[]) | undefined;
  /** Frames that follow the request. */
  following?: ((stream: number) => Uint8Array[]) | undefined;
}

/** The reply's value, or the guest's refusal as a GuestError. `what` names the request to people, `fields` are its own. */
export function replyValue<T>(
  what: string,
  schema: z.ZodType<T>,
  frame: Frame,
  fields: Record<string, unknown> = {},
): T {
  if ((frame.flags & Flag.error) === 0) return parseReply(schema, frame.payload);
  const { code, where } = parseReply(errorReply, frame.payload);
  const subject = Object.hasOwn(fields, where) ? fields[where] : undefined;
  throw new GuestError(what, code, where, typeof subject === "string" ? subject : undefined);
}

/** A counter that throws when the agent sends more than it may. */
export function allowance(credit: number): { spend(bytes: number): void; add(bytes: number): void } {
  let left = credit;
  return {
    spend(bytes: number): void {
      left -= bytes;
      if (left < 0) throw protocolError("more data than it may send");
    },
    add(bytes: number): void {
      left += bytes;
    },
  };
}

/** Sends a request and settles with its checked reply. Rejects with a ShinkenError. */
export async function request<T>(
  link: AgentLink,
  op: number,
  what: string,
  fields: Record<string, unknown>,
  schema: z.ZodType<T>,
  options: RequestOptions = {},
): Promise<T> {
  const { credit = 0, onData, before, following, ...limits } = options;
  const allowed = allowance(credit);
  const payload = payloadOf(fields);
  let reply: Frame | undefined;
  const stream = link.open({
    onData: (channel, bytes) => {
      allowed.spend(bytes.length);
      onData?.(channel, bytes);
    },
    onReply: (frame) => {
      reply = frame;
    },
  });
  try {
    await link.exchange(
      stream,
      () => [
        ...(before?.() ?? []),
        encodeFrame({ kind: Kind.request, stream, op, credit, payload }),
        ...(following?.(stream) ?? []),
      ],
      limits,
    );
  } finally {
    link.forget(stream);
  }
  if (reply === undefined) throw protocolError("an exchange without its reply");
  return replyValue(what, schema, reply, fields);
}
