/** The door of the room. */
export {
  type ActionCapability,
  actionDefinitions,
  parseAction,
  type ToolDescription,
  toolDescriptions,
} from "./aci/index.js";
export type { CheckpointInfo, CheckpointListing, EnvironmentOptions } from "./checkpoints.js";
export { type CheckEnvOptions, type CheckEnvReport, checkEnv, hostTimeKeys } from "./conformance/index.js";
export { EchoEnvironment } from "./echo.js";
export type {
  Action,
  ActionResult,
  Environment,
  EnvironmentEvent,
  EnvironmentFactory,
  Info,
  Observation,
  ResetResult,
  StepResult,
} from "./environment.js";
export { type FactoryOptions, TaskEnvironmentFactory } from "./factory.js";
export { goldenOrigins } from "./session/goldens.js";
export { loadTasks } from "./tasks.js";
