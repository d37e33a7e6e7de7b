import type { ExportFormat } from "./format.js";
import { chatRows } from "./sft.js";
import { stepRows } from "./steps.js";
import { trlRows } from "./trl.js";
import { verlRows } from "./verl.js";

export const exportFormats = {
  steps: stepRows,
  trl: trlRows,
  verl: verlRows,
  sft: chatRows,
} as const satisfies Record<string, ExportFormat>;
export type ExportFormatName = keyof typeof exportFormats;
export const exportFormatNames = Object.keys(exportFormats) as ExportFormatName[];
