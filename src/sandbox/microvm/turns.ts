/** Calls on a machine, one at a time, in the order in which they are made; neighbours that only look may share a turn. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  /** What the works of the latest shared turn wait for; null once something else was asked for. */
  #shared: Promise<unknown> | null = null;

  /** Runs `work` when everything that was asked for before has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    this.#shared = null;
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** As `take`, but together with the works that were asked for in the same way directly before and after. */
  share<T>(work: () => Promise<T>): Promise<T> {
    this.#shared ??= this.#last;
    const result = this.#shared.then(work);
    this.#last = Promise.allSettled([this.#last, result]).then(() => undefined);
    return result;
  }

  /** Settles when nothing is waiting or running any more. */
  async idle(): Promise<void> {
    for (let last: unknown; last !== this.#last; ) {
      last = this.#last;
      await this.#last;
    }
  }
}
