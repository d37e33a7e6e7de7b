/** The door of the room. */
export {
  type CheckTasksOptions,
  type CheckTasksReport,
  checkTasks,
  renderCheck,
  type TaskFinding,
} from "./check.js";
export * from "./efficiency/index.js";
export {
  type Attempt,
  type EpisodeOutcome,
  outcomeOf,
  type PlayEnd,
  playOn,
  type RolloutClient,
  type RolloutSession,
  type Stage,
} from "./episode.js";
export { type EvaluateOptions, evaluateTaskSet, type Until } from "./evaluate.js";
export { type ModuleReport, testModule } from "./modules/run.js";
export type { EvaluationReport, Spread, TaskReport } from "./report.js";
export * from "./pipeline/index.js";
export { renderMarkdown } from "./markdown.js";
export { renderScorecard } from "./scorecard.js";
export { outcomesOf, runLock, storedEpisodes } from "./stored.js";
export { subSeed } from "./seeds.js";
export * from "./statistics/index.js";
