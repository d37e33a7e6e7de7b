/** How our jobs stand in BullMQ's. */
import { maxPriority, type ParsedJob } from "../parse.js";

/** What BullMQ keeps as a job's data. */
export interface JobData {
  id: string;
  run: string;
  golden: string | null;
  /** Leases at most. */
  attempts: number;
  /** JSON. */
  payload: string;
  /** The call of `add` that it came with. */
  by: string;
}

export const dataOf = ({ id, run, golden, attempts, payload }: ParsedJob, by: string): JobData => ({
  id,
  run,
  golden,
  attempts,
  payload,
  by,
});

/** Our ids hold no `:` or space, but may be numbers, which BullMQ refuses. */
export const bullId = (id: string): string => `job-${id}`;
export const ourId = (id: string): string => id.slice("job-".length);

/** BullMQ's 1 goes before its 2; its 0 is another list, for which affinity has no say. */
export const bullPriority = (priority: number): number => maxPriority + 1 - priority;

/** Of a score in the set of prioritized jobs: the upper half is the priority, the lower a counter. */
export const priorityOfScore = (score: number): number => Math.floor(score / 2 ** 32);
