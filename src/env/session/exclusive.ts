import { ShinkenError } from "../../errors/index.js";

/** Tells work that it was asked to stop. */
export interface Cancellation {
  readonly requested: boolean;
  /** Aborted when it is, with the error that the request is answered with. */
  readonly signal: AbortSignal;
  /** Throws `cancelled` if it was. */
  check(): void;
}

/**
 * One piece of work at a time, and a way to leave it. A cancelled request is answered at once; the next piece of work
 * waits for the end of what it was in the middle of.
 */
export class Exclusive {
  #running: { stop: () => void } | null = null;
  #settled: Promise<unknown> = Promise.resolve();

  async run<T>(what: string, work: (cancellation: Cancellation) => Promise<T>): Promise<T> {
    if (this.#running !== null) {
      throw new ShinkenError("session_busy", `the session is still working; ${what} has to wait`);
    }
    const controller = new AbortController();
    const { signal } = controller;
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    stopped.catch(() => undefined);
    this.#running = { stop: () => controller.abort(cancelled(what)) };
    const before = this.#settled;
    const working = (async () => {
      await before.catch(() => undefined);
      signal.throwIfAborted();
      return work({
        get requested() {
          return signal.aborted;
        },
        signal,
        check: () => signal.throwIfAborted(),
      });
    })();
    this.#settled = working;
    try {
      return await Promise.race([working, stopped]);
    } finally {
      working.catch(() => undefined);
      this.#running = null;
    }
  }

  cancel(): void {
    this.#running?.stop();
  }

  /** Settles when nothing runs any more, cancelled work included. */
  async idle(): Promise<void> {
    await this.#settled.catch(() => undefined);
  }
}

function cancelled(what: string): ShinkenError {
  return new ShinkenError("cancelled", `${what} was cancelled`);
}
