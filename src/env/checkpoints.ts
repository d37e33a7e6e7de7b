/** Checkpoints of an episode: what a session is asked to keep, and how it tells of it. */
import { ShinkenError } from "../errors/index.js";

/** What the checkpoints of one session may hold, in MiB: if nobody says, and at the most. */
export const defaultCheckpointMiB = 64;
export const maxCheckpointMiB = 4_096;

/** What an environment is made with beside its task. */
export interface EnvironmentOptions {
  /** Keep the state after reset and after each step, so that it can be forked later. Unsaid: nothing is kept. */
  checkpoints?: { budgetMiB?: number | undefined } | undefined;
  /** Keep what a replay needs: forks are as random as ever, but their seeds and clocks are known afterwards. */
  traced?: boolean | undefined;
  /** For the recorder: what the client says of the episode (run, group, replica, model). */
  labels?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** For the recorder: values, and names of environment variables, that must not be recorded. */
  secrets?: { values?: readonly string[] | undefined; variables?: readonly string[] | undefined } | undefined;
  /** For the recorder: false, and nothing of the session is kept. */
  record?: boolean | undefined;
}

/** The checkpoint of a step in its `info`. */
export interface CheckpointInfo {
  step: number;
  /** State digest: equal digests mean bit-identical machines. */
  digest: string;
  /** What the step changed, in guest pages of 4 KiB. */
  delta_pages: number;
  delta_bytes: number;
}

/** What a session keeps. */
export interface CheckpointListing {
  /** By step; times and instructions since reset. */
  checkpoints: (CheckpointInfo & { guest_ms: number; instructions: number })[];
  budget_bytes: number;
  /** What they keep alive beside the golden and the machine. */
  held_bytes: number;
  taken: number;
  /** For want of budget. */
  dropped: number;
}

export const noCheckpoints: Readonly<CheckpointListing> = {
  checkpoints: [],
  budget_bytes: 0,
  held_bytes: 0,
  taken: 0,
  dropped: 0,
};

/** The refusal of a step whose checkpoint is not there, with the steps of those that are. */
export function checkpointMissing(step: number, kept: Iterable<number>, suggestion?: string): ShinkenError {
  const runs: [number, number][] = [];
  for (const one of [...kept].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === one - 1) last[1] = one;
    else runs.push([one, one]);
  }
  const steps = runs.map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`)).join(", ");
  return new ShinkenError(
    "checkpoint_missing",
    `no checkpoint of step ${step} is kept; kept: ${steps === "" ? "none" : steps}`,
    { path: "at_step", suggestion },
  );
}
