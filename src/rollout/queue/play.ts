import type { LoadedTask } from "../../env/task/index.js";
import { type ErrorCode, ShinkenError } from "../../errors/index.js";
import { operatorByName } from "../../operator/index.js";
import type { EpisodeOutcome } from "../episode.js";
import type { Pipeline } from "../pipeline/index.js";
import { parseWork, variantOf } from "./evaluation.js";
import type { Lease } from "./types.js";

/** Failures of this node, not of the episode: another node may play it. All others are outcomes, `ungraded` with their reason. */
const ofThisNode: ReadonlySet<ErrorCode | null> = new Set<ErrorCode | null>([
  "cancelled",
  "connection_lost",
  "server_draining",
  "image_missing",
  "host_unsupported",
  "disk_full",
]);

/** Plays the episode of a lease. Rejects where this node cannot: then the job is for another one, or dead in the end. */
export async function playLease(
  lease: Lease,
  set: { tasks: readonly LoadedTask[]; digest: string },
  pipeline: Pipeline,
  signal: AbortSignal,
): Promise<EpisodeOutcome> {
  const { task: id, taskSet, runSeed, replica, seed, operator } = parseWork(lease.payload);
  if (taskSet !== set.digest)
    throw new ShinkenError(
      "bad_request",
      `the job is of the task set ${taskSet}, this node has ${set.digest}`,
    );
  const task = set.tasks.find((one) => one.id === id);
  if (task === undefined) throw new ShinkenError("unknown_task", `there is no task ${id}`);
  const job = {
    variant: variantOf(task, runSeed),
    operator: operatorByName(operator),
    replica,
    seed,
    labels: { run: lease.run },
  };
  const outcome = await pipeline.play(job, signal);
  const last = outcome.attempts.at(-1);
  if (outcome.status === "ungraded" && last !== undefined && ofThisNode.has(last.code as ErrorCode | null))
    throw new ShinkenError(last.code as ErrorCode, last.reason ?? "the episode was not played");
  return outcome;
}
