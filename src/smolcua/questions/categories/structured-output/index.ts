/** Which record, row or document does a schema or a mapping want? */
import type { Scenario } from "../../types.js";
import { jsonPaths, layers, mergePatch } from "./documents.js";
import { csvColumns, csvFields, groupTotals } from "./rows.js";
import { schemaRecord } from "./schema.js";
import { dates, keptZeros, ranges, units, userNames } from "./values.js";

export const scenarios: readonly Scenario[] = [
  dates,
  units,
  ranges,
  keptZeros,
  userNames,
  csvColumns,
  csvFields,
  groupTotals,
  jsonPaths,
  layers,
  mergePatch,
  schemaRecord,
];
