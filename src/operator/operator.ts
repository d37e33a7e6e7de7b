/** Who plays the trainer: the reference operators that need no model. */
import type { Decision, ResetResult, StepResult } from "../env/environment.js";
import type { TaskVariant } from "../env/task/index.js";

/** What a player does next. */
export interface Turn {
  /** Of one step. */
  actions: readonly unknown[];
  /** What a model read and wrote to choose them. */
  decision?: Decision | undefined;
}

/** Plays one episode. */
export interface Player {
  /** The next step, or null if it has nothing more to do. Rejects when `signal` is aborted, where choosing takes time. */
  next(last: ResetResult | StepResult, signal?: AbortSignal): Promise<Turn | null>;
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
      const actions = steps[at];
      at += 1;
      return Promise.resolve(actions === undefined ? null : { actions });
    },
  };
}
