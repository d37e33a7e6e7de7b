/** Recorded episodes as something to work on: run again, graded again, branched. */
export { regrade, type RegradedEpisode, type RegradeOptions } from "./regrade.js";
export { gradingKey, storeFolder, verdictFile, type VerdictLine, VerdictStore } from "./verdict-store.js";
