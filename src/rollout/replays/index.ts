/** Recorded episodes as something to work on: run again, graded again, branched. */
export { gradingKey, storeFolder, verdictFile, type VerdictLine, VerdictStore } from "./verdict-store.js";
