import type { Normaliser } from "./schema.js";

const normalisers: Record<Normaliser, (text: string) => string> = {
  trim: (text) => text.trim(),
  collapse_whitespace: (text) => text.replace(/\s+/gu, " ").trim(),
  strip_trailing_whitespace: (text) =>
    text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n"),
  final_newline: (text) => (text.endsWith("\n") ? text.slice(0, -1) : text),
  crlf: (text) => text.replaceAll("\r\n", "\n"),
  lower: (text) => text.toLowerCase(),
  nfc: (text) => text.normalize("NFC"),
  nfkc: (text) => text.normalize("NFKC"),
};

/** Applies the named normalisers in order. Nothing is normalised that no name asks for. */
export function normaliseText(text: string, names: readonly Normaliser[]): string {
  return names.reduce((current, name) => normalisers[name](current), text);
}
