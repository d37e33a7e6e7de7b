export { type DialectName, dialectNames } from "./dialects/index.js";
export { modelOperator, modelPrefix } from "./operator.js";
export { scaffoldVersion, systemPrompt } from "./scaffold.js";
export type { ModelSettings, ModelSettingsInput } from "./settings.js";
