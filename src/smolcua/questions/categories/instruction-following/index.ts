/** Which result obeys all instructions? */
import type { Scenario } from "../../types.js";
import { agedFiles, expenseClaim, limitedPresses, shiftedReminder } from "./conditions.js";
import { corrections, nestedExceptions, sources, ticketOrder } from "./precedence.js";
import { stepOrder } from "./steps.js";
import { formEntries, purchase, replyLetter } from "./tasks.js";

export const scenarios: readonly Scenario[] = [
  agedFiles,
  limitedPresses,
  shiftedReminder,
  expenseClaim,
  sources,
  corrections,
  nestedExceptions,
  ticketOrder,
  replyLetter,
  formEntries,
  purchase,
  stepOrder,
];
