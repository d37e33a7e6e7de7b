/** Who plays the trainer: reference operators that need no model, and models. */
import type { Decision, Observation, ResetResult, StepResult } from "../env/environment.js";
import type { TaskVariant } from "../env/task/index.js";

/** What a player does next. */
export interface Turn {
  /** Of one step. */
  actions: readonly unknown[];
  /** What a model read and wrote to choose them. */
  decision?: Decision | undefined;
}

/** Why an operator has nothing more to do. */
export type StopReason = "done" | "fail" | "budget" | "loop" | "malformed";

/** What an operator has used, from the episode's start on. Requests that were tried again count once. */
export interface Account {
  /** Null while it goes on, and where the environment ended the episode or something failed. */
  stopped: StopReason | null;
  /** A sentence on `stopped`: which budget, which loop. */
  detail: string | null;
  /** Replies of the model. */
  requests: number;
  /** Requests that were sent again after a failure of the endpoint. */
  retries: number;
  /** Replies that held no step that could be done. */
  malformed: number;
  tokens_in: number;
  tokens_out: number;
  /** True if some of the tokens are our own estimate, since the endpoint did not tell. */
  estimated: boolean;
  /** US dollars; null where no price is set. */
  dollars: number | null;
  /** The model as the endpoint names it, and what it tells of its revision. */
  served: string | null;
  fingerprint: string | null;
}

/** Plays one episode. */
export interface Player {
  /**
   * The next step, or null if it has nothing more to do. Rejects when `signal` is aborted, where choosing takes time, and with
   * `model_failed` or `model_refused` where no reply can be had: failures of the harness, never a reward.
   */
  next(last: ResetResult | StepResult, signal?: AbortSignal): Promise<Turn | null>;
  /** What it has used so far; absent where nothing is counted. */
  account?(): Account;
}

/** A step that was done before a player begins. */
export interface PastStep {
  actions: readonly unknown[];
  /** What it was answered with. */
  observation: Observation;
  /** What a model read and wrote for it; null where nobody told. */
  decision: Decision | null;
}

export interface Operator {
  readonly name: string;
  /** Does the same whatever it sees, so that it can be asked again for steps that are done already. */
  readonly scripted?: true;
  /** Version of what surrounds a model: prompt, tools and rules. */
  readonly scaffold?: string;
  readonly model?: string;
  /** All that is fixed for a run, plain JSON without secrets. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** A player for one episode of a variant. `past`: the steps of a branch's parent, in order; `next` is then told the state after them. */
  play(variant: TaskVariant, past?: readonly PastStep[]): Player;
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
