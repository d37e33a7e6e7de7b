/** INIT, RUN and VERIFY: pools of their own, and what goes through them. */
export { type BestOf, type SelectionRule, selectionRules } from "../episode.js";
export { type BestOfOptions, playBestOf } from "./best-of.js";
export { type Admission, type BreakerOptions, type BreakerState, CircuitBreaker } from "./breaker.js";
export {
  type GroupOptions,
  type GroupOutcome,
  playGroup,
  type StragglerPolicy,
  stragglerPolicies,
} from "./group.js";
export type { EpisodeJob, Opened } from "./job.js";
export { type Budgets, budgetsOf, defaultPools, type PipelineOptions, type PoolSizes } from "./options.js";
export { Pipeline, type PipelineMetrics, type Running } from "./pipeline.js";
export { Pool, type PoolMetrics, type Slot, type SlotRequest } from "./pool.js";
