/** Words of three to six letters: rules on lengths need both. */
import { plainWords } from "../../words.js";

const shortWords = [
  "oak",
  "elm",
  "fern",
  "moss",
  "lake",
  "pond",
  "hill",
  "dune",
  "sand",
  "reef",
  "ivy",
  "bay",
];
export const labelWords: readonly string[] = [...plainWords, ...shortWords];
