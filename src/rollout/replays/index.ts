/** Recorded episodes as something to work on: run again, graded again, branched. */
export { regrade, type RegradedEpisode, type RegradeOptions } from "./regrade.js";
export { type Branch, branchBundle, type BranchOptions } from "./branch.js";
export { BranchingFactory } from "./branch-factory.js";
export { playerFrom } from "./branch-play.js";
export type { Aspect, Difference } from "./difference.js";
export { rerun, type Rerun, type RerunOptions } from "./rerun.js";
export { notRepeatable, type OpenerOptions, type SessionOpener, sessionOpener } from "./rerun-opener.js";
export {
  type Outcome,
  renderVerified,
  type VerifiedFile,
  verifyBundles,
  type VerifyOptions,
} from "./rerun-verify.js";
