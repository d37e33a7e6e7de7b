/** Calls on a machine, one at a time, in the order in which they are made. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when everything that was asked for before has ended, well or badly. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
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
