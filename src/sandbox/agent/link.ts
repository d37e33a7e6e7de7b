/**
 * One port of one machine: gives streams their numbers, runs one exchange at a time, and hands frames to the stream that
 * they belong to.
 */
import { encode } from "@msgpack/msgpack";
import type { ShinkenError } from "../../errors/index.js";
import { protocolError, stopped } from "./failures.js";
import { Control, decodeFrame, encodeFrame, Event, Flag, type Frame, joined, Kind } from "./frame.js";
import type { AgentPort, AgentTransport, ExchangeLimits } from "./transport.js";

/** Who gets a stream's frames. Handlers may throw a ShinkenError: the exchange then fails with it. */
export interface StreamHandler {
  onData?(channel: number, bytes: Uint8Array): void;
  onCredit?(bytes: number): void;
  /** The FINAL reply; the stream is over. */
  onReply(reply: Frame): void;
}

export interface ExchangeOptions extends ExchangeLimits {
  realtime?: boolean | undefined;
  /**
   * The request only looks, and this is the most that the agent sends for it, in bytes: it may share an exchange with its
   * neighbours on a link that gathers.
   */
  looks?: number | undefined;
}

/** Answered streams that are remembered, so that a second answer is noticed. */
const rememberedAnswers = 64;

/** Exchanges that become one: half of the agent's streams, and half of what the monitor keeps of one run's output. */
const gathered = { requests: 32, bytes: 32 << 20 };

interface Waiting {
  stream: number;
  input: () => Uint8Array[];
  options: ExchangeOptions;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Payload of a request or control frame; keys whose value is undefined are left out. */
export function payloadOf(value: unknown): Uint8Array {
  return encode(value, { ignoreUndefined: true });
}

export class AgentLink {
  readonly port: AgentPort;
  /** Whether requests that only look are served together. */
  readonly gathers: boolean;
  readonly #transport: AgentTransport;
  readonly #streams = new Map<number, StreamHandler>();
  /** Streams whose requests were given up and that the agent may still work on. */
  readonly #abandoned = new Set<number>();
  /** The latest streams that had their FINAL reply, in that order. */
  readonly #answered = new Set<number>();
  readonly #waiting: Waiting[] = [];
  #serving = false;
  #next: number;
  #fault: ShinkenError | null = null;
  #died: string | null = null;

  /**
   * `firstStream`: a fork goes on after its parent's numbers, whose streams its agent may still hold. `gathers`: requests that
   * only look are served together when they wait together.
   */
  constructor(transport: AgentTransport, port: AgentPort, firstStream = 1, gathers = false) {
    this.#transport = transport;
    this.gathers = gathers;
    this.port = port;
    this.#next = firstStream;
  }

  get nextStream(): number {
    return this.#next;
  }

  open(handler: StreamHandler): number {
    const stream = this.#next;
    this.#next = this.#next === 0xffff_ffff ? 1 : this.#next + 1;
    this.#streams.set(stream, handler);
    this.#answered.delete(stream);
    return stream;
  }

  /** Forgets a stream that never reached the agent. */
  forget(stream: number): void {
    this.#streams.delete(stream);
  }

  /**
   * In its turn: calls `input` for what the agent gets, and runs the machine until `stream` has its FINAL reply. Rejects with a
   * ShinkenError; the stream is given up then, and cancelled before the next exchange.
   */
  exchange(stream: number, input: () => Uint8Array[], options: ExchangeOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ stream, input, options, resolve, reject });
      if (this.#serving) return;
      this.#serving = true;
      void Promise.resolve().then(() => this.#serve());
    });
  }

  async #serve(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Callers ask in the microtasks that their last answers start; a tick later all of them have asked.
      if (this.gathers && this.#waiting[0]?.options.looks !== undefined)
        await new Promise<void>((resolve) => process.nextTick(resolve));
      const group = this.#takeGroup();
      try {
        await this.#exchange(group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { stream, resolve, reject } of group) {
          const answered = !this.#streams.has(stream) && !this.#abandoned.has(stream);
          if (this.#fault === null && answered) resolve();
          else reject(error);
        }
      }
    }
    this.#serving = false;
  }

  #takeGroup(): Waiting[] {
    const group = this.#waiting.splice(0, 1);
    if (!this.gathers) return group;
    let bytes = group[0]?.options.looks;
    while (bytes !== undefined && group.length < gathered.requests) {
      const looks = this.#waiting[0]?.options.looks;
      if (looks === undefined || bytes + looks > gathered.bytes) break;
      bytes += looks;
      group.push(...this.#waiting.splice(0, 1));
    }
    return group;
  }

  async #exchange(group: readonly Waiting[]): Promise<void> {
    this.#checkFault();
    const known = group.filter(({ stream }) => this.#streams.has(stream));
    const last = known.at(-1);
    if (last === undefined) return;
    const frames: Uint8Array[] = [];
    for (const old of this.#abandoned)
      frames.push(encodeFrame({ kind: Kind.control, stream: old, op: Control.cancel }));
    this.#abandoned.clear();
    for (const { input } of known) frames.push(...input());
    try {
      await this.#await(last, joined(frames));
      // Mostly the others' replies came before the last one's, or while the machine parked.
      for (const one of known) {
        if (this.#streams.has(one.stream)) await this.#await(one, new Uint8Array(0));
      }
    } finally {
      for (const { stream } of known) {
        if (this.#streams.delete(stream)) this.#abandoned.add(stream);
      }
    }
  }

  async #await({ stream, options }: Waiting, input: Uint8Array): Promise<void> {
    const { looks: _, ...limits } = options;
    const { reason } = await this.#transport.exchange(
      { ...limits, port: this.port, input, stream },
      (bytes) => this.#take(bytes),
    );
    this.#checkFault();
    if (this.#streams.has(stream)) throw stopped(reason, this.#died);
  }

  /** Sends frames while an exchange runs. */
  post(frame: Uint8Array): void {
    this.#transport.post(this.port, frame);
  }

  /** Gives allowance to the agent for a stream's data. */
  grant(stream: number, bytes: number): void {
    this.post(encodeFrame({ kind: Kind.control, stream, op: Control.credit, credit: bytes }));
  }

  expectNobody(): void {
    this.#transport.expectNobody();
  }

  cancel(): void {
    this.#transport.cancel();
  }

  /** Once it broke the protocol, nothing that the agent says counts any more. */
  #checkFault(): void {
    if (this.#fault !== null) throw this.#fault;
  }

  #take(bytes: Uint8Array): void {
    if (this.#fault !== null) return;
    try {
      const decoded = decodeFrame(bytes);
      if (decoded === null || decoded.size !== bytes.length) throw protocolError("a frame is cut short");
      this.#deliver(decoded.frame);
    } catch (error) {
      this.#fault =
        error instanceof Error && "code" in error
          ? (error as ShinkenError)
          : protocolError(String(error), error);
      this.#transport.cancel();
    }
  }

  #deliver(frame: Frame): void {
    if (frame.kind === Kind.event) {
      this.#event(frame);
      return;
    }
    const handler = this.#streams.get(frame.stream);
    if (handler === undefined) {
      if (frame.kind === Kind.reply && this.#answered.has(frame.stream))
        throw protocolError(`a second reply on stream ${frame.stream}`);
      return;
    }
    if (frame.kind === Kind.data) {
      handler.onData?.(frame.op, frame.payload);
    } else if (frame.kind === Kind.control) {
      if (frame.op !== Control.credit) throw protocolError(`control ${frame.op} from a guest`);
      handler.onCredit?.(frame.credit);
    } else {
      if ((frame.flags & Flag.final) === 0) throw protocolError("a reply that is not final");
      this.#streams.delete(frame.stream);
      this.#remember(frame.stream);
      handler.onReply(frame);
    }
  }

  #remember(stream: number): void {
    this.#answered.add(stream);
    const [oldest] = this.#answered;
    if (this.#answered.size > rememberedAnswers && oldest !== undefined) this.#answered.delete(oldest);
  }

  #event(frame: Frame): void {
    if (frame.op === Event.agentDied) this.#died = "The agent inside the machine was killed.";
    else if (frame.op === Event.fault) throw protocolError("it reports a fault in what the host sent");
  }
}
