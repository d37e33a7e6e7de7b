/** What a trainer wants of a rollout, checked already and with nothing left unsaid. */

/** What becomes of the replicas that the rest of their group waits for. */
export type StragglerPolicy = "wait" | "drop" | "resample";

export interface RolloutSpec {
  /** Tasks, or the one environment, that groups are drawn from. */
  readonly tasks: readonly string[];
  /** Replicas of a group: one task, one variant, one golden. */
  readonly group: number;
  /** Everything drawn comes from it: tasks, seeds of groups, seeds of machines. */
  readonly seed: number;
  /** Where there are any: the n-th group of a task has the n-th of these as its seed, and from the first one on after the last. */
  readonly seeds: readonly number[];
  /** Share of a task among those of its priority; 1 where unsaid, 0: not drawn. */
  readonly weights: Readonly<Record<string, number>>;
  /** Tasks of a higher one are drawn as long as there are any to draw; 0 where unsaid. */
  readonly priorities: Readonly<Record<string, number>>;
  /** Groups of a task at the most. */
  readonly quotas: Readonly<Record<string, number>>;
  /** Groups in all; null: endless. */
  readonly groups: number | null;
  /** Bounds of the episodes that wait ready though nobody asked for them yet. */
  readonly warm: { readonly min: number; readonly max: number };
  readonly stragglers: {
    readonly policy: StragglerPolicy;
    /** So many replicas of a group have ended before any of the others can be late. */
    readonly quorum: number;
    /** Milliseconds from there on. */
    readonly afterMs: number;
  };
  /** How often an episode is begun before its infrastructure failures count as its result. */
  readonly attempts: number;
  /** Whether verdicts are to be expected: an `ungraded` one is a failure then, and nothing strange otherwise. */
  readonly gradable: boolean;
}

export const rolloutDefaults = {
  group: 1,
  warmMin: 0,
  warmMax: 16,
  stragglerSeconds: 60,
  attempts: 3,
} as const;

/** Bounds of what a trainer may ask for. */
export const rolloutBounds = { group: 256, warm: 1024, attempts: 10, seeds: 4096, weight: 1e9 } as const;

/** Of a group of `size` replicas, if nobody says. */
export function defaultQuorum(size: number): number {
  return Math.max(1, Math.ceil(size / 2));
}
