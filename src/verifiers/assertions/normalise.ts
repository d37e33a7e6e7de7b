import type { Normaliser } from "./schema.js";

/** A decimal number in the English way, standing alone: no letter, digit, sign of a date or version beside it. */
const GROUPED_NUMBER = /(?<![\p{L}\d.,/:_-])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\p{L}\d/:_-]|[.,]\d)/gu;

function plainNumber(text: string): string {
  const [whole = "", decimals = ""] = text.replaceAll(",", "").split(".");
  const kept = decimals.replace(/0+$/, "");
  return kept === "" ? whole : `${whole}.${kept}`;
}

interface Rule {
  /** Raised whenever the same text could come out differently. */
  version: number;
  apply: (text: string) => string;
}

const first = (apply: Rule["apply"]): Rule => ({ version: 1, apply });

/** All normalisers by name; their versions are a part of every verifier's version. */
export const normalisers: Record<Normaliser, Rule> = {
  trim: first((text) => text.trim()),
  collapse_whitespace: first((text) => text.replace(/\s+/gu, " ").trim()),
  strip_trailing_whitespace: first((text) =>
    text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n"),
  ),
  final_newline: first((text) => (text.endsWith("\n") ? text.slice(0, -1) : text)),
  crlf: first((text) => text.replaceAll("\r\n", "\n")),
  lower: first((text) => text.toLowerCase()),
  // By way of upper case ß equals SS, and the final sigma the other; the capital ẞ is one only once it is ß.
  casefold: { version: 2, apply: (text) => text.toLowerCase().toUpperCase().toLowerCase() },
  nfc: first((text) => text.normalize("NFC")),
  nfkc: first((text) => text.normalize("NFKC")),
  strip_accents: first((text) =>
    text
      .normalize("NFD")
      .replace(/\p{Mn}/gu, "")
      .normalize("NFC"),
  ),
  strip_punctuation: first((text) => text.replace(/\p{P}/gu, "")),
  straight_quotes: first((text) => text.replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"')),
  // 1,234.50 becomes 1234.5; digits that belong to words, dates or versions stay.
  plain_numbers: first((text) => text.replace(GROUPED_NUMBER, plainNumber)),
};

/** Applies the named normalisers in order. Nothing is normalised that no name asks for. */
export function normaliseText(text: string, names: readonly Normaliser[]): string {
  return names.reduce((current, name) => normalisers[name].apply(current), text);
}
