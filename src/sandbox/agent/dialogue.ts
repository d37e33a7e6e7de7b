/** A program that stays open between requests, such as a shell, while the machine is parked. */
import { ShinkenError } from "../../errors/index.js";
import type { Dialogue, DialogueReply, ExecRequest } from "../sandbox.js";
import {
  defaultOutputBytes,
  type ExecExtras,
  execFields,
  guestLimit,
  InputQueue,
  toBytes,
} from "./command.js";
import { GuestError, protocolError } from "./failures.js";
import { Channel, Control, encodeFrame, type Frame, inputFrames, joined, Kind, Op } from "./frame.js";
import { type AgentLink, type ExchangeOptions, payloadOf } from "./link.js";
import { awaitReply, execReply, helloReply } from "./replies.js";
import { replyValue, request } from "./request.js";

const marks = { shortest: 2, longest: 64 };

/** Throws `bad_request` unless the agent can look for this marker. */
function markerBytes(marker: string): Uint8Array {
  const bytes = toBytes(marker) as Uint8Array;
  const fits = bytes.length >= marks.shortest && bytes.length <= marks.longest;
  if (fits && bytes.indexOf(bytes[0] as number, 1) === -1) return bytes;
  throw new ShinkenError("bad_request", "A marker has 2 to 64 bytes, of which the first occurs only once.", {
    path: "marker",
  });
}

export class AgentDialogue implements Dialogue {
  readonly #link: AgentLink;
  readonly #limits: ExchangeOptions;
  readonly #stream: number;
  readonly #input = new InputQueue();
  #final: Frame | undefined;
  #output: Uint8Array[] = [];
  #room = 0;

  private constructor(link: AgentLink, limits: ExchangeOptions) {
    this.#link = link;
    this.#limits = limits;
    this.#stream = link.open({
      onData: (channel, bytes) => {
        if (channel !== Channel.stdout) throw protocolError(`output on channel ${channel}`);
        this.#room -= bytes.length;
        if (this.#room < 0) throw protocolError("more output than was asked for");
        this.#output.push(bytes.slice());
      },
      onCredit: (bytes) => this.#input.credit(bytes),
      onReply: (frame) => {
        this.#final = frame;
      },
    });
  }

  /** Starts the program. Rejects with `guest_error` if it cannot be started. */
  static async open(
    link: AgentLink,
    exec: ExecRequest,
    extras: ExecExtras,
    limits: ExchangeOptions,
  ): Promise<AgentDialogue> {
    const dialogue = new AgentDialogue(link, limits);
    const stream = dialogue.#stream;
    const fields = execFields(
      { ...exec, timeoutMs: undefined, stdin: undefined },
      { ...extras, dialogue: true, stdin: true, output: defaultOutputBytes },
    );
    try {
      await dialogue.#settle([
        encodeFrame({ kind: Kind.request, stream, op: Op.exec, payload: payloadOf(fields) }),
      ]);
    } catch (error) {
      link.forget(stream);
      throw error;
    }
    if (dialogue.#final !== undefined)
      replyValue(`exec ${exec.argv[0] ?? ""}`, execReply, dialogue.#final, fields);
    return dialogue;
  }

  get ended(): boolean {
    return this.#final !== undefined;
  }

  /** Delivers frames with a small request behind them, since only a request's reply ends an exchange. */
  async #settle(frames: Uint8Array[]): Promise<void> {
    await request(this.#link, Op.hello, "hello", {}, helloReply, { ...this.#limits, before: () => frames });
  }

  #ready(): Uint8Array[] {
    return [...this.#input.take()].flatMap((piece) => inputFrames(this.#stream, piece.bytes, piece.end));
  }

  /** Nothing enters the machine while it runs, so all of the input must fit what the agent allows now. */
  #take(input: Uint8Array): void {
    if (input.length > this.#input.allowed) {
      throw new ShinkenError(
        "too_large",
        `A dialogue's program takes ${this.#input.allowed} bytes of input now.`,
        {
          suggestion: "write a file and let the program read it",
        },
      );
    }
    this.#input.push(input.slice());
  }

  async ask(
    input: Uint8Array | string,
    options: { marker: string; timeoutMs?: number | undefined; maxOutputBytes?: number | undefined },
  ): Promise<DialogueReply> {
    const marker = markerBytes(options.marker);
    const limit = options.maxOutputBytes ?? defaultOutputBytes;
    if (this.ended) return { output: new Uint8Array(0), dropped: 0, reason: "ended", line: "" };
    this.#take(toBytes(input) as Uint8Array);
    this.#output = [];
    this.#room = limit;
    const timeout = options.timeoutMs === undefined ? undefined : Math.max(1, Math.ceil(options.timeoutMs));
    try {
      const reply = await request(
        this.#link,
        Op.await,
        "await",
        { stream: this.#stream, marker, timeout, limit },
        awaitReply,
        { maxGuestMs: guestLimit(options.timeoutMs), ...this.#limits, before: () => this.#ready() },
      );
      const reason = reply.matched ? "matched" : reply.ended ? "ended" : "timeout";
      return this.#replied(reason, reply.dropped, new TextDecoder().decode(reply.line));
    } catch (error) {
      // The program ended between two requests.
      if (error instanceof GuestError && error.errno === "ESRCH") return this.#replied("ended", 0, "");
      throw error;
    } finally {
      this.#room = 0;
    }
  }

  #replied(reason: DialogueReply["reason"], dropped: number, line: string): DialogueReply {
    const output = joined(this.#output);
    this.#output = [];
    return { output, dropped, reason, line };
  }

  async signal(number: number): Promise<void> {
    if (this.ended) return;
    await this.#settle([
      encodeFrame({
        kind: Kind.control,
        stream: this.#stream,
        op: Control.signal,
        payload: payloadOf(number),
      }),
    ]);
  }

  async close(): Promise<void> {
    if (this.ended) return;
    const cancel = encodeFrame({ kind: Kind.control, stream: this.#stream, op: Control.cancel });
    await this.#link.exchange(this.#stream, () => [cancel], this.#limits);
  }
}
