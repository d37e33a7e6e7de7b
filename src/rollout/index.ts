/** The door of the room. */
export {
  type CheckTasksOptions,
  type CheckTasksReport,
  checkTasks,
  renderCheck,
  type TaskFinding,
} from "./check.js";
export { type EpisodeOutcome, outcomeOf, playOn, type RolloutClient } from "./episode.js";
export { type EvaluateOptions, evaluateTaskSet, subSeed } from "./evaluate.js";
export { type ModuleReport, testModule } from "./modules/run.js";
export type { EvaluationReport, Spread, TaskReport } from "./report.js";
export { renderScorecard } from "./scorecard.js";
export * from "./statistics/index.js";
