/** An `ExecStream` that may be used at once, though its command starts only when its turn has come. */
import { inputHighWater } from "../agent/index.js";
import type { ExecResult, ExecStream } from "../sandbox.js";
import type { Turns } from "./turns.js";

type Listener = (channel: "stdout" | "stderr", chunk: Uint8Array) => void;

export class QueuedStream implements ExecStream {
  readonly done: Promise<ExecResult>;
  #inner: ExecStream | undefined;
  /** What was asked for before the command's turn. */
  #early: ((stream: ExecStream) => void)[] = [];
  /** Bytes of input among it. */
  #earlyBytes = 0;

  constructor(turns: Turns, start: () => ExecStream) {
    this.done = turns.take(() => {
      this.#inner = start();
      for (const call of this.#early) call(this.#inner);
      this.#early = [];
      return this.#inner.done;
    });
    // Who only reads the output need not look at the end.
    this.done.catch(() => undefined);
  }

  #call(call: (stream: ExecStream) => void): void {
    if (this.#inner === undefined) this.#early.push(call);
    else call(this.#inner);
  }

  onOutput(listener: Listener): void {
    this.#call((stream) => {
      stream.onOutput(listener);
    });
  }

  write(data: Uint8Array): boolean {
    if (this.#inner !== undefined) return this.#inner.write(data);
    const copy = data.slice();
    this.#early.push((stream) => stream.write(copy));
    this.#earlyBytes += copy.length;
    // Written on in its turn, as much makes the command's own queue full, so that it tells when it has drained.
    return this.#earlyBytes <= inputHighWater;
  }

  onDrain(listener: () => void): void {
    this.#call((stream) => {
      stream.onDrain(listener);
    });
  }

  end(): void {
    this.#call((stream) => {
      stream.end();
    });
  }

  resize(columns: number, rows: number): void {
    this.#call((stream) => {
      stream.resize(columns, rows);
    });
  }

  kill(): void {
    this.#call((stream) => {
      stream.kill();
    });
  }
}
