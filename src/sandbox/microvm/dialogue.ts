/** A dialogue whose requests take their turn among the machine's others. */
import type { Dialogue, DialogueReply } from "../sandbox.js";

export class QueuedDialogue implements Dialogue {
  readonly #inner: Dialogue;
  readonly #take: <T>(work: () => Promise<T>) => Promise<T>;
  readonly #machineClosed: () => boolean;

  constructor(
    inner: Dialogue,
    take: <T>(work: () => Promise<T>) => Promise<T>,
    machineClosed: () => boolean,
  ) {
    this.#inner = inner;
    this.#take = take;
    this.#machineClosed = machineClosed;
  }

  ask(input: Uint8Array | string, options: Parameters<Dialogue["ask"]>[1]): Promise<DialogueReply> {
    return this.#take(() => this.#inner.ask(input, options));
  }

  signal(number: number): Promise<void> {
    return this.#take(() => this.#inner.signal(number));
  }

  get ended(): boolean {
    return this.#inner.ended;
  }

  async close(): Promise<void> {
    // With its machine the program has gone as well.
    if (this.#machineClosed() || this.#inner.ended) return;
    await this.#take(() => this.#inner.close());
  }
}
