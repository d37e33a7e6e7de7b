/** What becomes of a model that goes round in circles. */
import type { Action, Observation } from "../../env/environment.js";
import { ProgressWatch } from "../../env/session/progress.js";

/**
 * Looks for the loops that a session's `progress` events tell. The first is to be told to the model; if the same one goes on until it has
 * come twice as often, or another one comes, the episode ends.
 */
export class LoopWatch {
  readonly #watch: ProgressWatch;
  #steps = 0;
  #isTold = false;

  constructor(patience: number) {
    this.#watch = new ProgressWatch(patience);
  }

  /** Null while there is nothing to say. */
  record(
    actions: readonly unknown[],
    observation: Observation,
    earned: boolean,
  ): { what: "warn" | "end"; message: string } | null {
    this.#steps += 1;
    const event = this.#watch.record(this.#steps, actions as readonly Action[], observation, earned);
    if (event?.kind !== "loop") return null;
    const what = this.#isTold ? "end" : "warn";
    this.#isTold = true;
    return { what, message: event.message };
  }
}

/** Added to the last result. */
export function loopNote(message: string): string {
  return `\n\n[Note: ${message}. Do something else; if this goes on the task is ended.]`;
}
