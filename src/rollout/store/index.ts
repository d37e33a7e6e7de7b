/** Runs, their episodes and verdicts: kept, read, compared. */
export {
  type CompareOptions,
  type Comparison,
  compareRuns,
  type TaskComparison,
  usualAlpha,
} from "./compare.js";
export { allowedFields } from "./conditions.js";
export { exportRuns } from "./export.js";
export { gradingKey } from "./gradings.js";
export { importBundles, type ImportReport } from "./import/bundles.js";
export { importReported } from "./import/reported.js";
export { leaderboard, type LeaderboardFilter, type LeaderboardRow } from "./leaderboard.js";
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
