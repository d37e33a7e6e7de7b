/** Runs, their episodes and verdicts, kept. */
export { gradingKey } from "./gradings.js";
export { digestByTask, type LockDifference, lockDifferences } from "./lock.js";
export { defaultRunStore } from "./place.js";
export { openRunStore, type OpenOptions, RunStore } from "./store.js";
export {
  byTask,
  type DoneEpisode,
  type Grading,
  type Labels,
  provenances,
  type RunEnd,
  type RunFilter,
  type RunInfo,
  type RunLock,
  type RunSource,
  type ScoreProvenance,
  type StoredEpisode,
} from "./types.js";
