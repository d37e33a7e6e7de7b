import type { EpisodeResult, GroupProgress, RolloutEvent } from "./events.js";
import type { DrawnGroup } from "./scheduler.js";

/** One group while it runs: which replicas it has, and what came of them. */
export class Group {
  readonly drawn: DrawnGroup;
  readonly params: Record<string, unknown> | undefined;
  readonly size: number;
  readonly results: Omit<EpisodeResult, "progress">[] = [];
  /** Number of the next replica; each is given once, to replacements too. */
  #replicas = 0;
  /** Since when the others may be late, ms; undefined before its quorum. */
  quorumAt: number | undefined;
  /** Rounds in which late replicas were replaced. */
  resampled = 0;
  ended = false;

  constructor(drawn: DrawnGroup, size: number, params: Record<string, unknown> | undefined) {
    this.drawn = drawn;
    this.size = size;
    this.params = params;
  }

  newReplica(): number {
    return this.#replicas++;
  }

  progress(): GroupProgress {
    const graded = this.results.filter(({ status }) => status === "graded");
    return {
      size: this.size,
      ended: this.results.length,
      graded: graded.length,
      passed: graded.filter(({ verdict }) => verdict?.passed === true).length,
    };
  }

  announcement(state: "complete" | "cut" | "resampled", late: number[]): RolloutEvent {
    const { id, task, seed } = this.drawn;
    return {
      event: "rollout.group",
      group: id,
      task,
      seed,
      params: this.params ?? {},
      state,
      late,
      results: this.results.map(({ replica, status, verdict, reward }) => ({
        replica,
        status,
        score: verdict?.score ?? null,
        reward,
      })),
      progress: this.progress(),
    };
  }
}
