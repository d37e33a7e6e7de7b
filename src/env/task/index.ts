/** The door of the task room. */
export { parseDocument } from "./document.js";
export { taskJsonSchema } from "./json-schema.js";
export {
  type LoadedTask,
  type LoadTaskOptions,
  loadTask,
  makeTask,
  type TaskVariant,
  type VariantOptions,
} from "./load.js";
export { drawParams, type ParamSpecs, type ParamValue, type ParamValues } from "./params.js";
export {
  type ActionSpec,
  agentCapabilities,
  type Limits,
  type Mutation,
  type Task,
  taskSchema,
  type VerifySpec,
} from "./schema.js";
export { loadTaskSet, type TaskSet } from "./set.js";
export {
  type CopyStep,
  type ExecStep,
  type LaunchStep,
  type Probe,
  type Step,
  type WriteStep,
  writeStepBytes,
} from "./steps.js";
