/** The messages of rollouts as types. `docs/protocol.md` is the specification. */
import type { SessionState } from "./messages.js";

export interface RolloutOpenResult {
  rollout: string;
  token: string;
  seed: number;
  tasks: string[];
  /** Tasks for measuring only, which "all" leaves out of training. */
  left_out: string[];
}

/** Which episode it is. */
export interface WireEpisode {
  group: string;
  replica: number;
  attempt: number;
  task: string;
  seed: number;
}

/** `done`: there are no more. */
export type RolloutNextResult =
  | { done: true }
  | (WireEpisode & {
      done: false;
      rollout: string;
      session: string;
      token: string;
      state: SessionState;
      next: number;
      params: Record<string, unknown>;
      observation: Record<string, unknown>;
      info: Record<string, unknown>;
      /** Id of its bundle, where it is recorded. */
      episode?: string;
    });

export interface WireProgress {
  size: number;
  ended: number;
  graded: number;
  passed: number;
}

/** Numbered by their rollout, from 1. */
interface Numbered {
  rollout: string;
  number: number;
}

export type RolloutResultNotice = Numbered &
  WireEpisode & {
    event: "rollout.result";
    status: "graded" | "ungraded" | "failed";
    /** As `evaluate` gives it; null where the episode failed. */
    verdict: Record<string, unknown> | null;
    reward: number | null;
    steps: number;
    reason: string | null;
    session: string | null;
    episode: string | null;
    progress: WireProgress;
  };

export type RolloutGroupNotice = Numbered & {
  event: "rollout.group";
  group: string;
  task: string;
  seed: number;
  params: Record<string, unknown>;
  state: "complete" | "cut" | "resampled";
  late: number[];
  results: { replica: number; status: string; score: number | null; reward: number | null }[];
  progress: WireProgress;
};

export type RolloutNotice =
  | RolloutResultNotice
  | RolloutGroupNotice
  | (Numbered & WireEpisode & { event: "rollout.again"; code: string; message: string })
  | (Numbered & { event: "rollout.closed"; code: string; message: string });

export interface WireRolloutStats {
  groups: {
    drawn: number;
    open: number;
    complete: number;
    cut: number;
    resampled: number;
    of: number | null;
  };
  episodes: {
    warm: number;
    preparing: number;
    waiting: number;
    playing: number;
    handed_out: number;
    graded: number;
    ungraded: number;
    failed: number;
    again: Record<string, number>;
  };
  pool: { target: number; pulls_per_s: number; prepare_ms: number | null };
  tasks: Record<string, { groups: number; weight: number }>;
  done: boolean;
}
