/** A request has several readings: which one holds, what is worth a question, when to act without one? */
import type { Scenario } from "../../types.js";
import { likeNamed, lookedUp, openDetail, undoable } from "./asking.js";
import { backReference, looseDates, officeNumbers, sameFirstName } from "./readings.js";
import { looseSizes, scopeWords, tellingClause } from "./things.js";
import { noAnswer } from "./waiting.js";

export const scenarios: readonly Scenario[] = [
  likeNamed,
  openDetail,
  undoable,
  lookedUp,
  noAnswer,
  sameFirstName,
  backReference,
  looseDates,
  officeNumbers,
  scopeWords,
  tellingClause,
  looseSizes,
];
