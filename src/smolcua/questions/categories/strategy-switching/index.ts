/** Something failed: the same again, another way, somebody else, or an end? */
import type { Scenario } from "../../types.js";
import { deadClick, engineLimits, laterStage, oneCulprit } from "./evidence.js";
import { closedDoor, deadline, incident, stillProgress } from "./plans.js";
import { busyOrRefused, flakyTest, tryBudget, unknownResult } from "./retries.js";

export const scenarios: readonly Scenario[] = [
  busyOrRefused,
  unknownResult,
  tryBudget,
  flakyTest,
  deadClick,
  oneCulprit,
  engineLimits,
  laterStage,
  stillProgress,
  deadline,
  incident,
  closedDoor,
];
