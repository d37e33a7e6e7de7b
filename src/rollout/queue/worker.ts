/** A node: takes jobs, does them, keeps their leases alive meanwhile, and answers for them. */
import { ShinkenError } from "../../errors/index.js";
import type { JobQueue, Lease } from "./types.js";

export interface WorkOptions {
  queue: JobQueue;
  /** Name of this node, unlike any other's. */
  node: string;
  /** Jobs at a time. */
  concurrency: number;
  /** Does one; its result is what the job is acknowledged with. Where it rejects, the job is given back with the reason. Ends soon when `signal` is aborted. */
  play: (lease: Lease, signal: AbortSignal) => Promise<unknown>;
  /** Takes no more jobs once it is aborted; what plays may end within `drainMs`, and is given back after it. */
  signal: AbortSignal;
  drainMs: number;
  /** Goldens that it holds, asked from time to time and after each job. */
  goldens?: (() => Promise<readonly string[]>) | undefined;
  /** Where other nodes fetch them; nowhere if unsaid. */
  url?: string | undefined;
  /** Between two looks at an empty queue; 200 ms if unsaid. */
  idleMs?: number | undefined;
  /** Told of what went wrong with a job. */
  onTrouble?: ((lease: Lease | null, error: unknown) => void) | undefined;
}

export interface WorkTally {
  acknowledged: number;
  givenBack: number;
  /** Leases that were lost: somebody else does those jobs. */
  lost: number;
}

const defaultIdleMs = 200;
/** Heartbeats in the time of a lease. */
const beatsPerLease = 3;
/** Notices of this node come so often. */
const noticeEveryMs = 15_000;
/** A job that failed here is tried again after so long, on another node if one is free. */
const backoffMs = 1_000;

/** Works until it is told to stop. Rejects only where the queue fails at the start. */
export async function work(options: WorkOptions): Promise<WorkTally> {
  return new Node(options).run();
}

class Node {
  private readonly options: WorkOptions;
  private readonly tally: WorkTally = { acknowledged: 0, givenBack: 0, lost: 0 };
  private readonly late = new AbortController();
  /** Names of goldens in the last notice. */
  private announced = "";

  constructor(options: WorkOptions) {
    this.options = options;
  }

  async run(): Promise<WorkTally> {
    const { signal, concurrency, drainMs } = this.options;
    await this.announce();
    const notices = setInterval(() => void this.announce().catch(this.trouble(null)), noticeEveryMs);
    let timer: NodeJS.Timeout | undefined;
    const drain = () => {
      timer = setTimeout(() => {
        this.late.abort(new ShinkenError("cancelled", "the node stops"));
      }, drainMs);
    };
    if (signal.aborted) drain();
    else signal.addEventListener("abort", drain);
    try {
      await Promise.all(Array.from({ length: concurrency }, () => this.slot()));
      return this.tally;
    } finally {
      signal.removeEventListener("abort", drain);
      clearTimeout(timer);
      clearInterval(notices);
    }
  }

  private async announce(): Promise<void> {
    const { queue, node, goldens, url = null } = this.options;
    const held = (await goldens?.()) ?? [];
    await queue.announce({ node, url, goldens: held });
    this.announced = held.join();
  }

  /** Others may want a new golden at once. */
  private async announceNews(): Promise<void> {
    const held = (await this.options.goldens?.()) ?? [];
    if (held.join() !== this.announced) await this.announce();
  }

  private async slot(): Promise<void> {
    const { queue, node, signal, idleMs = defaultIdleMs } = this.options;
    while (!signal.aborted) {
      const lease = await queue.lease(node).catch((error: unknown) => {
        this.trouble(null)(error);
        return null;
      });
      if (lease === null) await rest(idleMs, signal);
      else await this.one(lease);
    }
  }

  private async one(lease: Lease): Promise<void> {
    const { queue, play } = this.options;
    const lost = new AbortController();
    const beats = setInterval(() => {
      queue.heartbeat(lease).catch((error: unknown) => {
        // A queue that cannot be reached may come back before the lease is over.
        if (isLost(error)) lost.abort(error);
        else this.trouble(lease)(error);
      });
    }, queue.leaseMs / beatsPerLease);
    try {
      const signal = AbortSignal.any([lost.signal, this.late.signal]);
      const answer = await play(lease, signal).then(
        (result) => () => this.acknowledge(lease, result),
        (error: unknown) => () => this.giveBack(lease, error),
      );
      // The next lease is chosen by what this node is known to hold.
      await this.announceNews().catch(this.trouble(null));
      if (lost.signal.aborted) this.tally.lost += 1;
      else await this.answered(lease, answer);
    } finally {
      clearInterval(beats);
    }
  }

  private async acknowledge(lease: Lease, result: unknown): Promise<void> {
    await this.options.queue.ack(lease, result);
    this.tally.acknowledged += 1;
  }

  private async giveBack(lease: Lease, error: unknown): Promise<void> {
    this.trouble(lease)(error);
    const reason = error instanceof ShinkenError ? `${error.code}: ${error.message}` : String(error);
    await this.options.queue.nack(lease, reason, this.late.signal.aborted ? 0 : backoffMs);
    this.tally.givenBack += 1;
  }

  /** As long as the lease holds, an answer that did not arrive is worth another try. */
  private async answered(lease: Lease, answer: () => Promise<void>): Promise<void> {
    const until = performance.now() + this.options.queue.leaseMs;
    for (;;) {
      try {
        await answer();
        return;
      } catch (error) {
        this.trouble(lease)(error);
        if (isLost(error) || performance.now() > until) {
          this.tally.lost += 1;
          return;
        }
        await rest(backoffMs, this.late.signal);
      }
    }
  }

  private readonly trouble = (lease: Lease | null) => (error: unknown) => {
    this.options.onTrouble?.(lease, error);
  };
}

const isLost = (error: unknown): boolean => error instanceof ShinkenError && error.code === "lease_lost";

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
