/** What does it print, which line mends it, what does it match? */
import type { Scenario } from "../../types.js";
import { mendLine } from "./mending.js";
import { aliasCopy, rangeLoop, slices } from "./programs.js";
import { greedyMatch, sqlJoin, sqlNull } from "./queries.js";
import { comparisons, globs, sedAddress, sortOrder, uniqueLines } from "./shell.js";

export const scenarios: readonly Scenario[] = [
  sedAddress,
  sortOrder,
  comparisons,
  uniqueLines,
  globs,
  slices,
  rangeLoop,
  aliasCopy,
  mendLine,
  sqlJoin,
  sqlNull,
  greedyMatch,
];
