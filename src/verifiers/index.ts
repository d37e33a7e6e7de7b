/** The door of the verifier room. */
export type { EpisodeFacts } from "./channels/channel.js";
export { type ChannelName, channelNames, channelsOf } from "./channels/schema.js";
export { jsonEquals } from "./assertions/json.js";
export type { Json } from "./assertions/json-value.js";
export { runGraderCommand } from "./channels/command.js";
export { askModule } from "./channels/module/read.js";
export { type Module, moduleNames, modulesFolder, readModuleFolder } from "./channels/module/registry.js";
export { MachineView } from "./view.js";
export { checkVerifier } from "./conformance.js";
export { evaluateGraph, evaluateMilestones, type GradeContext, type MilestoneReport } from "./evaluate.js";
export {
  type LoadedGraph,
  type LoadGraphOptions,
  loadGraph,
  type Milestone,
  verifierVersionOf,
} from "./graph.js";
export { judgeFromEnvironment } from "./judge/configured.js";
export type { JudgeModel } from "./judge/model.js";
export type { JudgeRecord } from "./judge/plan.js";
export { groupScore } from "./judge/tree.js";
export { closePool, poolStats, warmPool } from "./pool.js";
export type { Score, ScorerLibrary, ScorerReply } from "./scorer/library.js";
export { type GraphNode, graphNode } from "./schema.js";
export type { CheckResult, Verdict } from "./verdict.js";
