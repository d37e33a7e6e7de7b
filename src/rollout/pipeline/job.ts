import type { ResetResult, StepResult } from "../../env/environment.js";
import type { TaskVariant } from "../../env/task/index.js";
import type { Operator, PastStep, Player } from "../../operator/index.js";
import type { EpisodeOutcome, RolloutSession } from "../episode.js";

/** A session that is ready to be played, and who plays it. */
export interface Opened {
  session: RolloutSession;
  player: Player;
  /** What the session said last. */
  last: ResetResult | StepResult;
}

/** One episode to be played. Jobs of one variant share its golden. */
export interface EpisodeJob {
  variant: TaskVariant;
  operator: Operator;
  replica: number;
  /** Of the machine; every attempt has the same one, each on a fresh fork. */
  seed: number;
  /** What its bundle says beside group, replica and operator. */
  labels?: Readonly<Record<string, string | number | boolean>> | undefined;
  /**
   * Where it begins; unless said, with a new session that is reset. `opened` is told of a session as soon as there is one, so that it can be
   * stopped and closed whatever comes next. What was played before goes into `outcome`.
   */
  open?:
    | ((outcome: EpisodeOutcome, opened: (session: RolloutSession) => void) => Promise<Opened>)
    | undefined;
  /** Plays only so far and is branched instead of graded; where its episode ends before, it is graded like any other. */
  trunk?: Trunk | undefined;
}

export interface Trunk {
  steps: number;
  /** Called after that step, with the steps that were done; the session stays open until it settles. Must not reject. */
  branch(opened: Opened, outcome: EpisodeOutcome, past: readonly PastStep[]): Promise<void>;
}

/** Of a bundle: replicas of one variant are a group. */
export function labelsOf({ variant, operator, replica, labels }: EpisodeJob) {
  return { ...labels, group: variant.digest.slice(0, 16), replica, operator: operator.name };
}
