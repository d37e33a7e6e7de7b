/** Notices an agent that goes round in circles. */
import { createHash } from "node:crypto";
import type { Action, EnvironmentEvent, Observation } from "../environment.js";

type ProgressEvent = Extract<EnvironmentEvent, { event: "progress" }>;

/** Longest cycle of steps that counts as a loop. */
const longestCycle = 4;
/** Steps remembered. */
const memory = 256;

/**
 * A `loop` is a cycle of at most four steps that comes `patience` times in a row with the same observations. There is
 * `no_progress` if one step has given the same observation `patience` times without such a cycle. Each is told at
 * `patience` repeats and again each time their number doubles, and begins anew when a milestone is earned.
 */
export class ProgressWatch {
  readonly #patience: number;
  #steps: string[] = [];

  constructor(patience = 3, steps: readonly string[] = []) {
    this.#patience = patience;
    this.#steps = [...steps];
  }

  /** A watch that has seen the same steps, for a branch. */
  branch(): ProgressWatch {
    return new ProgressWatch(this.#patience, this.#steps);
  }

  /** Records a step; returns what is to be told, if anything. */
  record(
    step: number,
    actions: readonly Action[],
    observation: Observation,
    earned: boolean,
  ): ProgressEvent | null {
    if (earned) this.#steps = [];
    this.#steps.push(
      createHash("sha256")
        .update(JSON.stringify([actions, observation.results]))
        .digest("base64"),
    );
    if (this.#steps.length > memory) this.#steps.shift();
    for (let length = 1; length <= longestCycle; length += 1) {
      const repeats = this.#cycles(length);
      if (repeats === null) continue;
      if (repeats < this.#patience) continue;
      if (!this.#isTold(repeats)) return null;
      const what = length === 1 ? "the same step" : `the same ${length} steps`;
      return {
        event: "progress",
        kind: "loop",
        step,
        repeats,
        message: `${what} came ${repeats} times in a row with the same result`,
      };
    }
    const last = this.#steps.at(-1);
    const repeats = this.#steps.filter((one) => one === last).length;
    if (!this.#isTold(repeats)) return null;
    return {
      event: "progress",
      kind: "no_progress",
      step,
      repeats,
      message: `this step has given the same result ${repeats} times`,
    };
  }

  /** How often the last `length` steps came in a row, if the latest one completes a cycle. */
  #cycles(length: number): number | null {
    const steps = this.#steps;
    let same = 0;
    for (let at = steps.length - 1 - length; at >= 0 && steps[at] === steps[at + length]; at -= 1) same += 1;
    return same % length === 0 ? same / length + 1 : null;
  }

  #isTold(repeats: number): boolean {
    const ratio = repeats / this.#patience;
    return ratio >= 1 && Number.isInteger(Math.log2(ratio));
  }
}
