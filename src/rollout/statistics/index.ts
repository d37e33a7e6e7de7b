/** Statistics of replicas: what docs/statistics.md explains. Only graded scores go in; who calls counts the ungraded beside. */
export {
  type BootstrapOptions,
  bootstrapMean,
  defaultResamples,
  mostDraws,
} from "./bootstrap.js";
export { fQuantile, tQuantile, twoSidedT } from "./distributions.js";
export type { Estimate } from "./estimate.js";
export { icc1 } from "./icc.js";
export { cohenKappa, type Kappa } from "./kappa.js";
export { normalQuantile } from "./normal.js";
export { type PairedDifference, pairedDifference, type Scores } from "./paired.js";
export { passAtK, passHatK, passHatKInterval } from "./pass.js";
export { minimumDetectable, type Plan } from "./planning.js";
export { Random } from "./random.js";
export { type Regression, type RegressionOptions, regressionOf } from "./regression.js";
export { confidenceSequence, narrowEnough, replicasUntilNarrow, type Wanted } from "./sequence.js";
export { clopperPearson, defaultConfidence, type Interval, wilson } from "./share.js";
export { mean, quantile } from "./summary.js";
export { betaQuantile } from "./beta.js";
export { parseStatisticsInput, type StatisticsInput, statisticsLimits, type TaskScores } from "./input.js";
export { renderStatistics } from "./render.js";
export { type StatisticsReport, statisticsOf, type TaskStatistics } from "./report.js";
