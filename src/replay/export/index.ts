/** Data sets for training, out of bundles. */
export { exportBundles, type ExportOptions, type ExportReport } from "./export.js";
export type { Judged } from "./episode.js";
export type { ExportFilter, LeftOut } from "./filter.js";
export { type ExportFormatName, exportFormatNames } from "./formats/index.js";
