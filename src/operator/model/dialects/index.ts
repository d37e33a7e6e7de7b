import type { Dialect } from "./dialect.js";
import { textDialect } from "./text.js";
import { toolsDialect } from "./tools.js";

export type { Dialect, OfferedTool, Reply } from "./dialect.js";

export const dialectNames = ["tools", "text"] as const;
export type DialectName = (typeof dialectNames)[number];

export const dialects: Readonly<Record<DialectName, Dialect>> = { tools: toolsDialect, text: textDialect };
