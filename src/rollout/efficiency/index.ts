/** What success cost: docs/efficiency.md explains each figure. */
export { type Behaviour, type BlindPursuit, behaviourOf, blindPursuitOf, loopLength } from "./behaviour.js";
export type {
  EfficiencyTask,
  EpisodeCost,
  ForbiddenEffect,
  HumanSteps,
  StepTime,
  StepTrace,
} from "./cost.js";
export { type Latency, type LatencyRange, latencyOf, type TimePart, timeParts } from "./latency.js";
export { costOf, efficiencyTaskOf } from "./outcome.js";
export { dollarsOf, loadPrices, type PriceTable, priceTableSchema } from "./prices.js";
export {
  type Efficiency,
  type EfficiencyInput,
  efficiencyLines,
  efficiencyOf,
  renderEfficiency,
} from "./report.js";
export { type Spending, spendingOf } from "./spending.js";
export { type WeightedEfficiency, weightedEfficiency } from "./wes.js";
