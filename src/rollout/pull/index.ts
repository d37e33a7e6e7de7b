/** Rollouts that trainers pull episodes from. */
export { Demand } from "./demand.js";
export type { EpisodeName, EpisodeResult, GroupProgress, RolloutEvent } from "./events.js";
export { Lease } from "./lease.js";
export type { PlannedEpisode, PreparedEpisode } from "./plan.js";
export { PulledEnvironment } from "./pulled-environment.js";
export { Rollout, type RolloutPorts } from "./rollout.js";
export { type DrawnGroup, GroupScheduler, replicaSeed, type SchedulerSpec } from "./scheduler.js";
export {
  defaultQuorum,
  type RolloutSpec,
  rolloutBounds,
  rolloutDefaults,
  type StragglerPolicy,
} from "./spec.js";
export type { RolloutStats } from "./tally.js";
export { Waiter } from "./waiter.js";
