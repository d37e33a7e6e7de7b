/** The text benchmark SmolCUA: questions, contracts, scoring. */
export { type Contract, contractJsonSchema, contractSchema } from "./contracts/schema.js";
export { checkKey, referenceAnswer } from "./contracts/key.js";
export { type Grade, grade } from "./scorer/grade.js";
export { type GradedLine, gradeLine, lineAtMost } from "./scorer/line.js";
export { isFormatFailure, protocol, type Reason, reasons } from "./scorer/reasons.js";
