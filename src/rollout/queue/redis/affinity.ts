import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { affinityWindow, type Candidate, heldBy, preferred } from "../affinity.js";
import type { NodeNotice } from "../types.js";
import { type JobData, priorityOfScore } from "./data.js";

/**
 * Puts the job that suits the node best before the others of its priority. BullMQ gives whatever is first: where two nodes ask at the same
 * time one may be given what was meant for the other, which costs a fetch, and never a job.
 */
export async function preferJob(
  redis: Redis,
  queue: Queue<JobData, unknown>,
  keys: string,
  node: string,
  notices: readonly NodeNotice[],
  now: number,
): Promise<void> {
  if (notices.every(({ goldens }) => goldens.length === 0)) return;
  const scored = await redis.zrange(`${keys}prioritized`, "0", String(affinityWindow - 1), "WITHSCORES");
  const rows = Array.from({ length: scored.length / 2 }, (_, index) => ({
    id: scored[2 * index] ?? "",
    priority: priorityOfScore(Number(scored[2 * index + 1])),
  }));
  const same = rows.filter(({ priority }) => priority === rows[0]?.priority);
  if (same.length < 2) return;
  const reading = redis.pipeline();
  for (const { id } of same) reading.hmget(`${keys}${id}`, "data", "timestamp");
  const candidates = ((await reading.exec()) ?? []).map(([, fields]) => candidateOf(fields));
  const { mine, others } = heldBy(node, notices);
  const at = preferred(candidates, mine, others, now);
  const chosen = same[at];
  if (at > 0 && chosen !== undefined) await queue.backend.changePriority(chosen.id, chosen.priority, true);
}

/** A job that was taken meanwhile may be gone: it is looked at, and never moved. */
function candidateOf(fields: unknown): Candidate {
  const [data, timestamp] = fields as (string | null)[];
  const golden = data == null ? null : (JSON.parse(data) as JobData).golden;
  return { golden, sinceMs: Number(timestamp ?? 0) };
}
