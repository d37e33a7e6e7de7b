/** What a group of machines may use together before it is stopped: the grade forks of one verdict, say. */
import { ShinkenError } from "../errors/index.js";

/** Machine time in guest milliseconds, and instructions. */
export interface MachineUse {
  guestMs: number;
  instructions: number;
}

/**
 * Counts what machines use and says what is left. A run may use no more than was left when it began and is stopped there;
 * runs at the same time may overdraw the budget together, and that counts as exceeded like a stop: whether it is exceeded
 * depends on what was used, never on what ran first.
 */
export class MachineBudget {
  readonly #limit: MachineUse;
  readonly #left: MachineUse;
  #exceeded: string | null = null;

  /** An unsaid limit is none. */
  constructor(limit: { guestMs?: number | undefined; instructions?: number | undefined }) {
    const { guestMs = Number.POSITIVE_INFINITY, instructions = Number.POSITIVE_INFINITY } = limit;
    this.#limit = { guestMs, instructions };
    this.#left = { guestMs, instructions };
  }

  /** What a run that begins now may use. */
  get left(): Readonly<MachineUse> {
    return this.#left;
  }

  /** The limit that was hit, in words; null as long as there is none. */
  get exceeded(): string | null {
    return this.#exceeded;
  }

  /** Takes off what a run has used. `stopped`: it was stopped by a limit. */
  spend(used: MachineUse, stopped = false): void {
    this.#left.guestMs -= used.guestMs;
    this.#left.instructions -= used.instructions;
    const over = (left: number): boolean => left < 0 || (stopped && left <= 0);
    if (over(this.#left.guestMs)) this.#exceeded ??= `${this.#limit.guestMs / 1_000} s of machine time`;
    if (over(this.#left.instructions)) this.#exceeded ??= `${this.#limit.instructions} instructions`;
  }

  /** Throws `machine_timeout` if nothing may run any more. */
  check(): void {
    if (this.#exceeded === null && this.#left.guestMs > 0 && this.#left.instructions > 0) return;
    this.spend({ guestMs: 0, instructions: 0 }, true);
    throw new ShinkenError("machine_timeout", `the machine's budget of ${this.#exceeded} is used up`);
  }
}
