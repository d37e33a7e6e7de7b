/** What comes next, given what is seen and what was done? */
import type { Scenario } from "../../types.js";
import { boxOrWindow, formFields, tickedRows, wizard } from "./forms.js";
import { cutPaste, loadingPage, menuKeys, scrolling, tabKeys } from "./moves.js";
import { bookingDates, staleStep, ticketQueue } from "./procedures.js";

export const scenarios: readonly Scenario[] = [
  formFields,
  boxOrWindow,
  wizard,
  tickedRows,
  menuKeys,
  scrolling,
  tabKeys,
  cutPaste,
  loadingPage,
  staleStep,
  ticketQueue,
  bookingDates,
];
