/** So many slots, and a queue for them. Knows nothing of what is done in a slot. */
import { Waits } from "./waits.js";

/** What a pool has been doing, from its first job on. */
export interface PoolMetrics {
  name: string;
  size: number;
  /** Slots taken now, and jobs that wait for one. */
  running: number;
  queued: number;
  queuedPeak: number;
  /** Jobs that have had a slot and given it back. */
  done: number;
  /** Seconds of slots taken, all slots together. */
  busyS: number;
  elapsedS: number;
  /** `busyS` of `size * elapsedS`, from 0 to 1; 0 before the first job. */
  utilisation: number;
  /** From asking for a slot to having it, of the latest 4,096 that got one. */
  waitingMs: { p50: number | null; p99: number | null };
}

/** A slot that is taken. Whoever has it gives it back. */
export interface Slot {
  /** What it was waited for. */
  readonly waitedMs: number;
  /** Idempotent. */
  release(): void;
}

export interface SlotRequest {
  /** Gives up the place in the queue; `acquire` then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Goes before all that are not urgent. For who has waited already and comes back a bounded number of times: an endless stream of
   * urgent ones would starve the others.
   */
  urgent?: boolean | undefined;
}

interface Waiter {
  urgent: boolean;
  grant(): void;
}

/**
 * First come, first served: a job waits for those before it and for nobody else, so none starves. At most `size` slots are taken at any
 * time, and a slot that is given back goes to the first in the queue at once, so none idles while somebody waits.
 */
export class Pool {
  readonly name: string;
  readonly size: number;
  private readonly queue: Waiter[] = [];
  private readonly waits = new Waits();
  private running = 0;
  private done = 0;
  private queuedPeak = 0;
  private busyMs = 0;
  private began: number | undefined;
  private changed = 0;

  /** `size`: a whole number of at least 1. */
  constructor(name: string, size: number) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`no size of a pool: ${size}`);
    this.name = name;
    this.size = size;
  }

  /** Waits for a slot. Rejects only with the reason of its signal. */
  async acquire({ signal, urgent = false }: SlotRequest = {}): Promise<Slot> {
    signal?.throwIfAborted();
    const asked = performance.now();
    this.began ??= asked;
    if (this.running >= this.size) await this.wait(urgent, signal);
    else this.take();
    const waitedMs = performance.now() - asked;
    this.waits.add(waitedMs);
    let held = true;
    return {
      waitedMs,
      release: () => {
        if (!held) return;
        held = false;
        this.release();
      },
    };
  }

  /** Does `work` in a slot, which is given back however it ends. */
  async run<T>(work: (slot: Slot) => Promise<T>, request: SlotRequest = {}): Promise<T> {
    const slot = await this.acquire(request);
    try {
      return await work(slot);
    } finally {
      slot.release();
    }
  }

  metrics(): PoolMetrics {
    this.account();
    const elapsedMs = this.began === undefined ? 0 : performance.now() - this.began;
    return {
      name: this.name,
      size: this.size,
      running: this.running,
      queued: this.queue.length,
      queuedPeak: this.queuedPeak,
      done: this.done,
      busyS: this.busyMs / 1_000,
      elapsedS: elapsedMs / 1_000,
      utilisation: elapsedMs > 0 ? Math.min(1, this.busyMs / (this.size * elapsedMs)) : 0,
      waitingMs: this.waits.spread(),
    };
  }

  private wait(urgent: boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.queue.splice(this.queue.indexOf(waiter), 1);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        urgent,
        grant: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const before = urgent ? this.queue.findIndex((other) => !other.urgent) : -1;
      this.queue.splice(before < 0 ? this.queue.length : before, 0, waiter);
      this.queuedPeak = Math.max(this.queuedPeak, this.queue.length);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  private take(): void {
    this.account();
    this.running += 1;
  }

  /** The slot goes from hand to hand: nobody who comes between can take it from the first in the queue. */
  private release(): void {
    this.account();
    this.done += 1;
    const next = this.queue.shift();
    if (next === undefined) this.running -= 1;
    else next.grant();
  }

  /** Adds up the busy time until now. */
  private account(): void {
    const now = performance.now();
    this.busyMs += this.running * (now - this.changed);
    this.changed = now;
  }
}
