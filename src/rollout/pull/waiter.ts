import type { ShinkenError } from "../../errors/index.js";
import type { Lease } from "./lease.js";

/** Somebody who has pulled and has no episode yet. Settles once; null: the rollout has no more. */
export class Waiter {
  readonly promise: Promise<Lease | null>;
  /** It found an episode ready. */
  readonly found: boolean;
  settled = false;
  #resolve!: (lease: Lease | null) => void;
  #reject!: (error: ShinkenError) => void;

  constructor(found: boolean) {
    this.found = found;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever gave up does not listen any more.
    this.promise.catch(() => undefined);
  }

  resolve(lease: Lease | null): void {
    this.settled = true;
    this.#resolve(lease);
  }

  reject(error: ShinkenError): void {
    this.settled = true;
    this.#reject(error);
  }
}
