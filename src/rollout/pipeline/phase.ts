/** The budget of a phase: host time in which somebody works on it. It begins with the slot, so that waiting for one costs nothing. */
import { ShinkenError } from "../../errors/index.js";

export interface PhaseBudget {
  /** For error messages: `the setup`. */
  what: string;
  ms: number;
  /** Once the budget is spent or the job is cancelled, what runs is asked to stop and has so long to answer. */
  graceMs: number;
}

/** The longest time that a timer of Node can wait. */
const longestTimerMs = 2 ** 31 - 1;

/** A running phase. */
export class Phase {
  /** Aborted when the budget is spent or the job is cancelled. */
  readonly signal: AbortSignal;
  readonly budget: PhaseBudget;
  private readonly began = performance.now();
  private readonly expiry = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(budget: PhaseBudget, outer?: AbortSignal) {
    this.budget = budget;
    this.timer = setTimeout(
      () => {
        this.expiry.abort(
          new ShinkenError(
            "machine_timeout",
            `${budget.what} took more than ${budget.ms / 1_000} s of active time`,
          ),
        );
      },
      Math.min(budget.ms, longestTimerMs),
    );
    this.signal = outer === undefined ? this.expiry.signal : AbortSignal.any([outer, this.expiry.signal]);
  }

  /** Whether it was the budget that ended it. */
  get spent(): boolean {
    return this.expiry.signal.aborted && this.signal.reason === this.expiry.signal.reason;
  }

  get activeMs(): number {
    return performance.now() - this.began;
  }

  /** To be called at its end, however it ends. */
  end(): void {
    clearTimeout(this.timer);
  }

  /**
   * Settles as `work` does. When the phase is over before it, `stop` is called, and work that settles within the grace time still
   * counts; if it fails then, the phase's end is the reason. Work that does not answer at all is left behind: rejects with
   * `machine_timeout`, so that no slot waits for it.
   */
  async guard<T>(work: Promise<T>, stop: () => void): Promise<T> {
    work.catch(() => undefined);
    if ((await settledBefore(work, this.signal)) === "settled") return work;
    stop();
    if (!(await settlesWithin(work, this.budget.graceMs))) throw this.noAnswer();
    return work.catch((error: unknown) => {
      throw isCancelled(error) ? this.signal.reason : error;
    });
  }

  private noAnswer(): ShinkenError {
    const { what, graceMs } = this.budget;
    const why = this.signal.reason instanceof Error ? this.signal.reason.message : String(this.signal.reason);
    return new ShinkenError(
      "machine_timeout",
      `${what}: no answer within ${graceMs / 1_000} s of being asked to stop (${why})`,
    );
  }
}

export function isCancelled(error: unknown): boolean {
  return error instanceof ShinkenError && error.code === "cancelled";
}

/** Which of the two comes first. */
function settledBefore(work: Promise<unknown>, signal: AbortSignal): Promise<"settled" | "aborted"> {
  return new Promise((resolve) => {
    const aborted = () => resolve("aborted");
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    const settled = () => {
      signal.removeEventListener("abort", aborted);
      resolve("settled");
    };
    work.then(settled, settled);
  });
}

/** Whether the work settles, either way, within the time. */
export function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    work.then(settled, settled);
  });
}
