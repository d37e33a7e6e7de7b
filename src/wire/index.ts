export { decodeMessage, type Encoding, encodeMessage } from "./codec.js";
export { defaultWireLimits, protocolVersion, type WireLimits } from "./limits.js";
export {
  type AttachResult,
  type BranchResult,
  type CreateResult,
  closeCodes,
  type HelloLimits,
  type HelloResult,
  type Operation,
  operations,
  type PushedEvent,
  type Reply,
  type SessionEvent,
  type SessionRow,
  type SessionState,
  type TaskRow,
  type WireError,
} from "./messages.js";
export { formatPath } from "./path.js";
export type {
  RolloutGroupNotice,
  RolloutNextResult,
  RolloutNotice,
  RolloutOpenResult,
  RolloutResultNotice,
  WireEpisode,
  WireProgress,
  WireRolloutStats,
} from "./rollout.js";
export { fromWireVerdict, toWireVerdict, type WireVerdict } from "./verdict.js";
