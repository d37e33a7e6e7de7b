/** Markdown, with the freedoms of its writing taken out. */
import type { Json } from "../../../verifiers/assertions/json-value.js";
import { strip, words } from "../../python/text.js";

/** Line ends, blank lines, list marks, headings and links in one way each. */
export function markdownOf(value: Json): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const text = value
    .replace(/\r\n?/g, "\n")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^(\s*)(#{1,6})[ \t]+/gm, "$1$2 ")
    .replace(/^(\s*)[*+][ \t]+/gm, "$1- ")
    .replace(/^[ \t]+-/gm, "  -")
    .replace(/\[([^\]]*?)\n\s*([^\]]*?)\](\([^)]+\))/g, "[$1 $2]$3")
    .replace(/\[([^\]]+)\]/g, (_, inside: string) => `[${words(inside).join(" ")}]`)
    .replace(/\(\s*([^)]+?)\s*\)/g, "($1)");
  return strip(text);
}
