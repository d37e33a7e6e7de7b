/** A command whose output arrives while it runs. */
import type { ExecRequest, ExecResult, ExecStream, StreamOptions } from "../sandbox.js";
import {
  type ExecExtras,
  execFields,
  execResult,
  guestLimit,
  InputQueue,
  inputHighWater,
  inputLowWater,
  toBytes,
} from "./command.js";
import { protocolError } from "./failures.js";
import { Channel, Control, encodeFrame, type Frame, inputFrames, Kind, Op } from "./frame.js";
import { type AgentLink, type ExchangeOptions, payloadOf } from "./link.js";
import { execReply } from "./replies.js";
import { allowance, replyValue } from "./request.js";

/** Output that may be under way to a listener. */
const outputWindow = 256 << 10;
/** Allowance is renewed in steps, not for every frame. */
const grantStep = outputWindow / 4;
/** More than may be under way: what is heard is granted again. */
const unbounded = 0xffff_ffff;
const none = new Uint8Array(0);

type Listener = (channel: "stdout" | "stderr", chunk: Uint8Array) => void;

export class AgentStream implements ExecStream {
  readonly done: Promise<ExecResult>;
  readonly #link: AgentLink;
  readonly #stream: number;
  readonly #terminal: boolean;
  readonly #input = new InputQueue();
  readonly #allowed = allowance(outputWindow);
  readonly #listeners: Listener[] = [];
  readonly #drained: (() => void)[] = [];
  /** The writer was asked to wait. */
  #full = false;
  /** Control frames made before the command's turn came. */
  #early: Uint8Array[] = [];
  #started = false;
  #over = false;
  #taken = 0;
  #reply: Frame | undefined;

  constructor(
    link: AgentLink,
    request: ExecRequest,
    options: StreamOptions & ExecExtras,
    limits: ExchangeOptions,
  ) {
    this.#link = link;
    this.#terminal = options.terminal !== undefined;
    this.#stream = link.open({
      onData: (channel, bytes) => this.#output(channel, bytes),
      onCredit: (bytes) => {
        this.#input.credit(bytes);
        this.#feed();
      },
      onReply: (frame) => {
        this.#reply = frame;
        this.#over = true;
      },
    });
    const stdin = toBytes(request.stdin);
    if (stdin !== undefined) {
      this.#input.push(stdin);
      this.#input.end();
    }
    const output = request.maxOutputBytes ?? Number.MAX_SAFE_INTEGER;
    const fields = execFields(request, { ...options, stdin: true, output });
    this.done = this.#run(request, fields, {
      // Somebody may be about to write, and their thinking must not make the guest's clock race; and output is allowed on
      // as it is heard.
      realtime: true,
      maxGuestMs: guestLimit(request.timeoutMs),
      ...limits,
    });
    // A caller that only listens to the output need not look at `done`.
    this.done.catch(() => undefined);
  }

  async #run(
    request: ExecRequest,
    fields: Record<string, unknown>,
    limits: ExchangeOptions,
  ): Promise<ExecResult> {
    const stream = this.#stream;
    try {
      const first = encodeFrame({
        kind: Kind.request,
        stream,
        op: Op.exec,
        credit: outputWindow,
        payload: payloadOf(fields),
      });
      await this.#link.exchange(
        stream,
        () => {
          this.#started = true;
          const frames = [first, ...this.#ready(), ...this.#early];
          this.#early = [];
          return frames;
        },
        limits,
      );
    } finally {
      this.#over = true;
      this.#link.forget(stream);
    }
    if (this.#reply === undefined) throw protocolError("an exchange without its reply");
    const reply = replyValue(`exec ${request.argv[0] ?? ""}`, execReply, this.#reply, fields);
    return execResult(reply, { stdout: none, stderr: none });
  }

  #output(channel: number, bytes: Uint8Array): void {
    if (channel !== Channel.stdout && channel !== Channel.stderr)
      throw protocolError(`output on channel ${channel}`);
    this.#allowed.spend(bytes.length);
    const copy = bytes.slice();
    for (const listener of this.#listeners) listener(channel === Channel.stdout ? "stdout" : "stderr", copy);
    this.#taken += bytes.length;
    if (this.#taken < grantStep) return;
    this.#allowed.add(this.#taken);
    this.#link.grant(this.#stream, this.#taken);
    this.#taken = 0;
  }

  #ready(): Uint8Array[] {
    const pieces = [...this.#input.take()];
    const frames = pieces.flatMap((piece) => inputFrames(this.#stream, piece.bytes, piece.end));
    // After what is being made ready here: by then the machine runs.
    if (!this.#terminal && pieces.some(({ end }) => end)) queueMicrotask(() => this.#expectNobody());
    if (this.#full && this.#input.waiting <= inputLowWater) {
      this.#full = false;
      // These frames go first, whatever a listener writes.
      queueMicrotask(() => {
        for (const listener of this.#drained) listener();
      });
    }
    return frames;
  }

  /**
   * All input has been given, so nobody's thinking can make the guest's clock race: its idle waits need no time any more. Nor
   * may it ever wait for us to hear its output; the monitor makes the guest stand still where we do not.
   */
  #expectNobody(): void {
    if (this.#over) return;
    this.#allowed.add(unbounded);
    this.#link.grant(this.#stream, unbounded);
    this.#link.expectNobody();
  }

  #feed(): void {
    if (!this.#started || this.#over) return;
    for (const frame of this.#ready()) this.#link.post(frame);
  }

  #control(op: number, value: unknown): void {
    if (this.#over) return;
    const frame = encodeFrame({ kind: Kind.control, stream: this.#stream, op, payload: payloadOf(value) });
    if (this.#started) this.#link.post(frame);
    else this.#early.push(frame);
  }

  onOutput(listener: Listener): void {
    this.#listeners.push(listener);
  }

  write(data: Uint8Array): boolean {
    if (this.#over) return true;
    this.#input.push(data.slice());
    if (this.#input.waiting > inputHighWater) this.#full = true;
    this.#feed();
    return !this.#full;
  }

  onDrain(listener: () => void): void {
    this.#drained.push(listener);
  }

  end(): void {
    this.#input.end();
    this.#feed();
  }

  resize(columns: number, rows: number): void {
    this.#control(Control.resize, [columns, rows]);
  }

  kill(): void {
    this.#control(Control.signal, 9);
  }
}
