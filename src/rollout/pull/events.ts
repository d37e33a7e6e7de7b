/** What a rollout tells while it runs. Rooms with a wire give these names and fields to their clients. */
import type { Verdict } from "../../verifiers/verdict.js";

/** How far a group is. */
export interface GroupProgress {
  /** Replicas that it waits for in all. */
  size: number;
  ended: number;
  graded: number;
  passed: number;
}

/** Which episode it is. */
export interface EpisodeName {
  group: string;
  replica: number;
  /** From 1: how often it was begun. */
  attempt: number;
  task: string;
  /** Of its machine. */
  seed: number;
}

/** How an episode ended. Only `graded` has a score. */
export interface EpisodeResult extends EpisodeName {
  /** `failed`: infrastructure, at each attempt. */
  status: "graded" | "ungraded" | "failed";
  verdict: Verdict | null;
  /** Sum over its steps; null where it failed: a failure is no reward of 0. */
  reward: number | null;
  steps: number;
  /** Why there is no score. */
  reason: string | null;
  /** Session in which it was played; null where none began. */
  session: string | null;
  /** Id of its bundle, where it is recorded. */
  episode: string | null;
  progress: GroupProgress;
}

export type RolloutEvent =
  | ({ event: "rollout.result" } & EpisodeResult)
  /** It is given out again: infrastructure failed (`code` says how), or its player went away (`returned`). */
  | ({ event: "rollout.again"; code: string; message: string } & EpisodeName)
  | {
      event: "rollout.group";
      group: string;
      task: string;
      /** Seed of its parameters. */
      seed: number;
      params: Record<string, unknown>;
      /** `complete`: all replicas have ended; `cut`: it ended without some; `resampled`: some were replaced, it goes on. */
      state: "complete" | "cut" | "resampled";
      /** Replicas that were late. */
      late: number[];
      /** One row for each result. */
      results: {
        replica: number;
        status: EpisodeResult["status"];
        score: number | null;
        reward: number | null;
      }[];
      progress: GroupProgress;
    };
