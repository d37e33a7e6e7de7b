/** Who plays the trainer: the reference operators that need no model. */
import type { ResetResult, StepResult } from "../env/environment.js";
import type { TaskVariant } from "../env/task/index.js";

/** Plays one episode. */
export interface Player {
  /** The actions of the next step, or null if it has nothing more to do. */
  next(last: ResetResult | StepResult): Promise<readonly unknown[] | null>;
}

export interface Operator {
  readonly name: string;
  /** A player for one episode of a variant. */
  play(variant: TaskVariant): Player;
}

/** A player that sends given steps, whatever it sees. */
export function scriptedPlayer(steps: readonly (readonly unknown[])[]): Player {
  let at = 0;
  return {
    next: () => {
      const step = steps[at] ?? null;
      at += 1;
      return Promise.resolve(step);
    },
  };
}
