/** Runs of text that look alike, whatever wrote them. */
import type { Json } from "../../assertions/schema.js";
import type { TextLook } from "./docx/styles.js";

type Fields = { [key: string]: Json };

/** Neighbours that look alike are one run: applications split text wherever they please. */
export function mergedRuns(parts: readonly { text: string; look: TextLook }[]): Json[] {
  const runs: (Fields & { text: string })[] = [];
  let before = "";
  for (const { text, look } of parts) {
    if (text === "") continue;
    const fields = lookOf(look);
    const key = JSON.stringify(fields);
    const last = runs.at(-1);
    if (last !== undefined && key === before) last.text += text;
    else runs.push({ text, ...fields });
    before = key;
  }
  return runs;
}

function lookOf(look: TextLook): Fields {
  return {
    bold: look.bold ?? false,
    italic: look.italic ?? false,
    strike: look.strike ?? false,
    underline: look.underline === undefined || look.underline === "none" ? null : look.underline,
    font: look.font ?? null,
    size: look.size ?? null,
    color: look.color ?? "auto",
    highlight: look.highlight ?? null,
    vertical: look.vertical ?? "baseline",
  };
}
