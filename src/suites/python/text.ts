/** Text as Python treats it: published scorers are Python programs, and their answers hang on its white space and code points. */

/** What `str.isspace` holds true for; JavaScript's `\s` lacks the separators U+001C to U+001F and U+0085 and has U+FEFF. */
const space = "\\t-\\r\\u001c-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const atStart = new RegExp(`^[${space}]+`);
const atEnd = new RegExp(`[${space}]+$`);
const everywhere = new RegExp(`[${space}]`, "g");
const runs = new RegExp(`[${space}]+`);

/** `str.strip()` */
export const strip = (text: string): string => text.replace(atStart, "").replace(atEnd, "");

/** `str.split()`: words between runs of white space, none of them empty. */
export const words = (text: string): string[] => text.split(runs).filter((word) => word !== "");

/** `re.sub(r"\s", "", text)` */
export const withoutSpace = (text: string): string => text.replace(everywhere, "");

/** `re.sub(r"\s+", " ", text)` */
export const collapseSpace = (text: string): string => text.replace(new RegExp(runs, "g"), " ");

/** `str.lower()`. JavaScript maps the same characters, the Greek final sigma included. */
export const lower = (text: string): string => text.toLowerCase();

/** `text.rstrip(characters)` of single characters. */
export function stripEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** `text.lstrip(characters)` of single characters. */
export function stripStart(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start++;
  return text.slice(start);
}

/** `text.replace(part, "", 1)` and its like: all occurrences of a plain part. */
export const replaceAll = (text: string, part: string, by: string): string => text.split(part).join(by);

const punctuation = /[!-/:-@[-`{-~]/g;

/** Without `string.punctuation`: the 32 marks of ASCII, and no others. */
export const withoutPunctuation = (text: string): string => text.replace(punctuation, "");
