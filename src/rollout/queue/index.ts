/** The door of the queue. BullMQ and Redis are behind a door of their own, `redis/index.ts`, which only those load who use them. */
export { affinityWindow, patienceMs } from "./affinity.js";
export { checkQueue, type CheckQueueOptions, type CheckQueueReport } from "./conformance/index.js";
export {
  collectEvaluation,
  type CollectOptions,
  type EpisodeWork,
  type EvaluationPlan,
  goldenOf,
  parseWork,
  submitEvaluation,
  type SubmitOptions,
} from "./evaluation.js";
export {
  type ExchangeEvent,
  type ExchangeOptions,
  type ExchangeTally,
  GoldenExchange,
} from "./goldens/exchange.js";
export {
  type Fetched,
  fetchGolden,
  type FetchLimits,
  fetchLimits,
  type FetchOptions,
} from "./goldens/fetch.js";
export { GoldenInventory } from "./goldens/inventory.js";
export { openQueue } from "./open.js";
export { playLease } from "./play.js";
export { openSqliteQueue } from "./sqlite/queue.js";
export * from "./types.js";
export { work, type WorkOptions, type WorkTally } from "./worker.js";
