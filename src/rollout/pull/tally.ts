/** What a rollout has counted. */
import type { EpisodeResult } from "./events.js";

export interface RolloutStats {
  groups: {
    drawn: number;
    open: number;
    complete: number;
    cut: number;
    resampled: number;
    of: number | null;
  };
  episodes: {
    /** Ready, and nobody asked for them yet. */
    warm: number;
    preparing: number;
    /** Pulls that wait for one. */
    waiting: number;
    playing: number;
    handed_out: number;
    graded: number;
    ungraded: number;
    failed: number;
    /** Given out again, by the reason's code. */
    again: Record<string, number>;
  };
  pool: { target: number; pulls_per_s: number; prepare_ms: number | null };
  tasks: Record<string, { groups: number; weight: number }>;
  done: boolean;
}

/** What it counts at the moment that it is asked. */
export interface RolloutGauges {
  groups: { drawn: number; open: number; of: number | null };
  warm: number;
  preparing: number;
  waiting: number;
  playing: number;
  target: number;
  pullsPerSecond: number;
  prepareMs: number | null;
  tasks: RolloutStats["tasks"];
  done: boolean;
}

export class RolloutTally {
  readonly #groups = { complete: 0, cut: 0, resampled: 0 };
  readonly #results = { graded: 0, ungraded: 0, failed: 0 };
  readonly #again: Record<string, number> = {};
  #handedOut = 0;

  handedOut(): void {
    this.#handedOut += 1;
  }

  ended(status: EpisodeResult["status"]): void {
    this.#results[status] += 1;
  }

  again(code: string): void {
    this.#again[code] = (this.#again[code] ?? 0) + 1;
  }

  group(state: "complete" | "cut" | "resampled"): void {
    this.#groups[state] += 1;
  }

  stats(gauges: RolloutGauges): RolloutStats {
    const { warm, preparing, waiting, playing } = gauges;
    return {
      groups: { ...gauges.groups, ...this.#groups },
      episodes: {
        ...{ warm, preparing, waiting, playing, handed_out: this.#handedOut },
        ...this.#results,
        again: { ...this.#again },
      },
      pool: { target: gauges.target, pulls_per_s: gauges.pullsPerSecond, prepare_ms: gauges.prepareMs },
      tasks: gauges.tasks,
      done: gauges.done,
    };
  }
}
