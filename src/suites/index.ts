/** Foreign benchmarks: their published scorers as named profiles, and their formats. */
export { findScorer, scorerIds } from "./scorers.js";
export {
  type Fault,
  faultText,
  type Outcome,
  type Profile,
  profiles,
  type Scorer,
} from "./scorer.js";
export { type Difference, runVectors, type VectorReport, type VectorTally } from "./vectors/run.js";
