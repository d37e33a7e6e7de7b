/** The comparisons of VisualWebArena's dialect; they differ from WebArena's of the same names. */
import { lower } from "../../python/text.js";
import { tokenize } from "../../python/treebank.js";
import { unquoted } from "../../webarena/scorers/text.js";

/** White space around an answer stays, unlike in WebArena. */
export const clean = (text: string): string => lower(unquoted(text));

export const exactMatch = (reference: string, answer: string): boolean => clean(answer) === clean(reference);

/** A reference of one word must be a word of the answer; a longer one must stand anywhere in it. */
export function includes(reference: string, answer: string): boolean {
  const wanted = clean(reference);
  const said = clean(answer);
  return tokenize(wanted).length === 1 ? tokenize(said).includes(wanted) : said.includes(wanted);
}
