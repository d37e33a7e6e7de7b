/** Which text keeps all of several rules at once? */
import type { Scenario } from "../../types.js";
import { codes, digitGroups } from "./numbers.js";
import { fileNames, paths } from "./paths.js";
import { bookings, settingLines, timeSpans } from "./schedules.js";
import { colours, versions } from "./versions.js";
import { headlines, sentences, wordTriples } from "./words.js";

export const scenarios: readonly Scenario[] = [
  wordTriples,
  headlines,
  sentences,
  paths,
  codes,
  digitGroups,
  versions,
  colours,
  fileNames,
  bookings,
  timeSpans,
  settingLines,
];
