/**
 * Words as NLTK's `word_tokenize` cuts them: the Treebank conventions, in which clitics, final full stops and most marks
 * are words of their own. Sentences are told by the rules of this file and not by NLTK's trained model: a full stop ends
 * one where white space follows, unless the word before it is a known abbreviation.
 */
import { words } from "./text.js";

type Rule = readonly [pattern: RegExp, by: string];

/** Every match stands apart. */
const apart = (pattern: RegExp): Rule => [pattern, " $& "];

const word = "\\p{L}\\p{N}_";
const clitic = "(?:re|ve|ll|m|t|s|d|n)";

const rules: readonly Rule[] = [
  // Quotes that open.
  apart(/[«“‘„]|`+/g),
  [/^"/g, "``"],
  apart(/``/g),
  [/([ ([{<])(?:"|'')/g, "$1 `` "],
  [new RegExp(`(?<![${word}])'(?!${clitic}(?![${word}]))(?=[${word}])`, "giu"), "' "],
  // Marks. The last full stop of the text is a word, those inside it are not.
  [/([^.])\.(?=([\])}>"'»”’ ]*))\2\s*$/g, "$1 . $2 "],
  [/([:,])(\P{Nd})/gu, " $1 $2"],
  [/[:,](?=\n?$)/g, " $& "],
  apart(/\.{2,}/g),
  apart(/[;@#$%&]/g),
  apart(/[‒-―]/g),
  [/([^.])\.(?=([\])}>"']*))\2\s*$/g, "$1 .$2 "],
  apart(/[?!]/g),
  [/([^'])' /g, "$1 ' "],
  apart(/\*/g),
  apart(/[[\](){}<>]/g),
  apart(/--/g),
];

const closing: readonly Rule[] = [
  // Quotes that close, and clitics.
  apart(/[»”’]/g),
  apart(/''/g),
  [/"/g, " '' "],
  [/[\s\u001c-\u001f\u0085]+/g, " "],
  [/([^' ])('[sS]|'[mM]|'[dD]|') /g, "$1 $2 "],
  [/([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) /g, "$1 $2 "],
  // Words that are two.
  ...(
    [
      ["can", "not"],
      ["d", "'ye"],
      ["gim", "me"],
      ["gon", "na"],
      ["got", "ta"],
      ["lem", "me"],
      ["more", "'n"],
    ] as const
  ).map(
    ([first, second]): Rule => [
      new RegExp(`(?<![${word}])(${first})(${second})(?![${word}])`, "giu"),
      " $1 $2 ",
    ],
  ),
  [new RegExp(`(?<![${word}])(wan)(na)(?=\\s)`, "giu"), " $1 $2 "],
  [new RegExp(` ('t)(is|was)(?![${word}])`, "giu"), " $1 $2 "],
];

const apply = (text: string, list: readonly Rule[]): string =>
  list.reduce((current, [pattern, by]) => current.replace(pattern, by), text);

/** The words of one sentence. */
export function sentenceWords(sentence: string): string[] {
  return words(apply(` ${apply(sentence, rules)} `, closing));
}

/** Words that a full stop belongs to, so that it ends no sentence. Compared without their last full stop. */
const abbreviations = new Set(
  (
    "dr mr mrs ms prof st jr sr vs etc e.g i.e u.s u.k u.n d.c a.m p.m ph.d inc co corp ltd bros " +
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun ave blvd rd gen col sgt capt lt gov sen rep"
  ).split(" "),
);

const stop = /[.?!]["'”’)\]]*\s+/g;

/** The word that ends at a place. */
function wordBefore(text: string, from: number, end: number): string {
  let start = end;
  while (start > from && !/\s/.test(text.charAt(start - 1))) start--;
  return text.slice(start, end);
}

/** Sentences of a text, with the white space behind them cut off. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const match of text.matchAll(stop)) {
    const last = wordBefore(text, start, match.index);
    const plain = last.replace(/^["'“‘([]+/, "").toLowerCase();
    const initial = /^\p{L}$/u.test(plain);
    if (match[0].startsWith(".") && (abbreviations.has(plain) || initial || /\.$/.test(last))) continue;
    found.push(text.slice(start, match.index + match[0].trimEnd().length));
    start = match.index + match[0].length;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

/** The words of a text, sentence by sentence. */
export const tokenize = (text: string): string[] => sentences(text).flatMap(sentenceWords);
