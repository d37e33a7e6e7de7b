export { aciLimits } from "./limits.js";
export {
  actionDefinitions,
  type ParsedAction,
  parseAction,
  parseActions,
  type ToolDescription,
  toolDescriptions,
} from "./registry.js";
export { cutMiddle, showBytes } from "./text.js";
export type { ActionCapability, ActionContext, ActionDefinition, ActionErrorCode } from "./types.js";
