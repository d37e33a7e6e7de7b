/** Text as WebArena-Verified compares it: plain letters, single spaces, lower case. */
import { collapseSpace, lower, strip } from "../../python/text.js";

/** A text between `^` and `$` is a pattern, wherever it comes from. */
export const isPattern = (value: unknown): boolean =>
  typeof value === "string" && value.length >= 2 && value.startsWith("^") && value.endsWith("$");

const marks = /[\u2122\u00ae\u2120\u00a9]/g;
const hyphen = "[-\\u2010-\\u2015\\u2212\\u00ad]";
/** A hyphen beside a letter is a space; one between digits stays. */
const hyphens = new RegExp(`(?<=[a-zA-Z])${hyphen}|${hyphen}(?=[a-zA-Z])`, "g");

/** Letters and marks that no decomposition brings to ASCII; the rest of the world's scripts stays as it is. */
const plain = new Map(
  Object.entries({
    ß: "ss",
    æ: "ae",
    Æ: "AE",
    œ: "oe",
    Œ: "OE",
    ø: "o",
    Ø: "O",
    đ: "d",
    Đ: "D",
    ð: "d",
    Ð: "D",
    þ: "th",
    Þ: "Th",
    ł: "l",
    Ł: "L",
    ı: "i",
    ħ: "h",
    Ħ: "H",
    ŋ: "ng",
    Ŋ: "NG",
    ŧ: "t",
    Ŧ: "T",
    "‘": "'",
    "’": "'",
    "‚": ",",
    "‛": "'",
    "“": '"',
    "”": '"',
    "„": ",,",
    "‟": '"',
    "′": "'",
    "″": '"',
    "«": "<<",
    "»": ">>",
    "‹": "<",
    "›": ">",
    "‐": "-",
    "‑": "-",
    "‒": "-",
    "–": "-",
    "—": "--",
    "―": "--",
    "−": "-",
    "•": "*",
    "·": "*",
    "‖": "||",
    "⁄": "/",
    "∕": "/",
    "×": "x",
    "÷": "/",
    "±": "+-",
    "≤": "<=",
    "≥": ">=",
    "°": "deg",
    µ: "m",
    "¡": "!",
    "¿": "?",
    "§": "SS",
    "¶": "P",
    "¦": "|",
    "¬": "!",
    "†": "+",
    "‡": "++",
    "←": "-",
    "→": "-",
    "¢": "C/",
    "£": "PS",
    "¥": "Y=",
    "¤": "$?",
    "€": "EUR",
    "₹": "Rs",
    "₩": "W",
    "₽": "R",
    "₿": "BTC",
    "₺": "L",
    "₪": "NS",
  }),
);

/** ASCII where there is a customary way, without pictures and symbols that say nothing. */
function toAscii(text: string): string {
  const bare = text.normalize("NFKD").replace(/\p{M}/gu, "");
  return bare.replace(/[^\u0000-\u007f]/gu, (character) => {
    const known = plain.get(character);
    if (known !== undefined) return known;
    return /[\p{So}\p{Sk}\p{Extended_Pictographic}]/u.test(character) ? "" : character;
  });
}

/** Takes a site's address out of a text, for the placeholder of that site. */
export type Derender = (text: string) => string;

/** What two texts are compared by. Patterns stay as they are. */
export function plainText(text: string, derender: Derender): string {
  if (text === "" || isPattern(text)) return text;
  const placed = text.includes("http") ? derender(text) : text;
  const cleaned = placed
    .replace(marks, "")
    .normalize("NFKC")
    .replace(hyphens, " ")
    .replace(/[\t\n\r]/g, " ")
    .replace(/\p{C}/gu, "");
  return lower(collapseSpace(strip(toAscii(cleaned))));
}

const edge = /^['"`.,;:!?]+|['"`.,;:!?]+$/g;

/** Without quotes and marks at either end. */
export const withoutEdges = (text: string): string => text.replace(edge, "");
