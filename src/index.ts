/** What a program that embeds Shinken Gym imports; the client alone is at `shinken-gym/client`. */
export { type ClientOptions, connect, RemoteSession, ShinkenClient } from "./client/index.js";
export {
  type Action,
  type CheckpointInfo,
  type CheckpointListing,
  checkEnv,
  EchoEnvironment,
  type Environment,
  type EnvironmentEvent,
  type EnvironmentFactory,
  type EnvironmentOptions,
  loadTasks,
  type Observation,
  type ResetResult,
  type StepResult,
  TaskEnvironmentFactory,
} from "./env/index.js";
export { type ErrorCode, errorTable, ShinkenError } from "./errors/index.js";
export { modelOperator, type Operator, type Player } from "./operator/index.js";
export { checkTasks, evaluateTaskSet, renderScorecard } from "./rollout/index.js";
export { MicrovmProvider } from "./sandbox/microvm/provider.js";
export type { Golden, Sandbox, SandboxProvider } from "./sandbox/sandbox.js";
export { publishedScorers } from "./suites/index.js";
export { type RunningServer, type ServerOptions, startServer } from "./server/index.js";
export { checkVerifier, type Verdict } from "./verifiers/index.js";
