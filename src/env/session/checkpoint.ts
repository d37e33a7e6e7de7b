/** Keeping the state of an episode's machine after a step. */
import { ShinkenError } from "../../errors/index.js";
import type { Checkpoint, CheckpointOptions } from "../../sandbox/sandbox.js";
import {
  type CheckpointInfo,
  type CheckpointListing,
  defaultCheckpointMiB,
  type EnvironmentOptions,
  noCheckpoints,
} from "../checkpoints.js";
import type { Observation } from "../environment.js";
import type { Episode } from "./episode.js";

/** About what a mark takes beside its observation: names of milestones, the steps that its watch remembers. */
const markBytes = 4_096;

/** What the machines of a session are forked with. */
export function checkpointOptions({ checkpoints }: EnvironmentOptions): CheckpointOptions | undefined {
  if (checkpoints === undefined) return undefined;
  return { budgetBytes: (checkpoints.budgetMiB ?? defaultCheckpointMiB) * 1024 * 1024 };
}

/**
 * Takes the checkpoint of the present step, whose mark is the caller's to set, and forgets the marks of those that were dropped for
 * it. Rejects with `host_unsupported` where machines keep none.
 */
export async function keepCheckpoint(episode: Episode, observation: Observation): Promise<CheckpointInfo> {
  const { machine, marks, record } = episode;
  if (machine.checkpoint === undefined)
    throw new ShinkenError("host_unsupported", "machines of this kind keep no checkpoints");
  const bytes = markBytes + Buffer.byteLength(JSON.stringify(observation));
  const { dropped, ...checkpoint } = await machine.checkpoint(record.steps, bytes);
  for (const gone of dropped) marks.delete(gone);
  return infoOf(checkpoint);
}

/** What an episode's machine keeps. */
export function listCheckpoints({ machine, marks }: Episode): CheckpointListing {
  if (machine.checkpoints === undefined) return noCheckpoints;
  const { checkpoints, budgetBytes, heldBytes, taken, dropped } = machine.checkpoints();
  return {
    // Without a mark is one whose step was cancelled, until it is done again.
    checkpoints: checkpoints.flatMap((checkpoint) => {
      const mark = marks.get(checkpoint.step);
      if (mark === undefined) return [];
      return { ...infoOf(checkpoint), guest_ms: mark.guestMs, instructions: mark.instructions };
    }),
    budget_bytes: budgetBytes,
    held_bytes: heldBytes,
    taken,
    dropped,
  };
}

function infoOf({ step, digest, deltaPages, deltaBytes }: Checkpoint): CheckpointInfo {
  return { step, digest, delta_pages: deltaPages, delta_bytes: deltaBytes };
}
