/** Foreign benchmarks: their published scorers as named profiles, and their formats. */
export { publishedScorers } from "./library.js";
export { findScorer, scorerIds } from "./scorers.js";
export {
  type Fault,
  faultText,
  type Outcome,
  type Profile,
  profiles,
  type Scorer,
} from "./scorer.js";
export {
  type EvaluatorVerdict,
  evaluateRun,
  type Run,
  type RunVerdict,
} from "./webarena-verified/evaluate.js";
export { type NetworkEvent, parseHar } from "./webarena-verified/har.js";
export { type SiteName, siteNames, type SiteUrls } from "./webarena-verified/sites.js";
export { parseTasks, type WebArenaVerifiedTask } from "./webarena-verified/task.js";
export { type Difference, runVectors, type VectorReport, type VectorTally } from "./vectors/run.js";
