/** Which tool or command fits the need? */
import type { Scenario } from "../../types.js";
import { archives, converters, inputDevice, searchScope } from "./desktop.js";
import { bulkPrice, leastRights, recordChange, schedule } from "./services.js";
import { copyMove, grepFlags, logEnd, takeBack } from "./shell.js";

export const scenarios: readonly Scenario[] = [
  logEnd,
  copyMove,
  grepFlags,
  takeBack,
  recordChange,
  schedule,
  bulkPrice,
  leastRights,
  searchScope,
  inputDevice,
  archives,
  converters,
];
