/** What a judge is shown of an answer: text, bounded, and the same for the same state. */
import { canonicalJson } from "../canonical.js";
import { cut } from "../evidence.js";
import type { Answer } from "../value.js";

/** Characters of one exhibit. */
const EXHIBIT_LIMIT = 20_000;

/** Bounds a text. */
export function rendered(text: string): string {
  return cut(text, EXHIBIT_LIMIT);
}

/** An answer as text. */
export function renderAnswer(answer: Answer): string {
  if ("absent" in answer) return `(nothing: ${answer.absent})`;
  switch (answer.type) {
    case "text":
      return rendered(answer.value);
    case "bytes":
      return `(${answer.value.length} bytes)`;
    case "table":
      return rendered(canonicalJson({ columns: answer.columns, rows: answer.rows }));
    default:
      return rendered(canonicalJson((answer as { value: unknown }).value));
  }
}
