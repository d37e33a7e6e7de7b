/** Evidence is for people and logs: bounded, and on one line. */

/** Characters of one check's evidence. */
export const EVIDENCE_LIMIT = 2_000;
/** Characters of one value within it. */
const VALUE_LIMIT = 400;

/** Cuts text in the middle, with a mark that says how much is gone. */
export function cut(text: string, limit: number = EVIDENCE_LIMIT): string {
  if (text.length <= limit) return text;
  const half = Math.floor((limit - 40) / 2);
  return `${text.slice(0, half)} [... ${text.length - 2 * half} characters ...] ${text.slice(-half)}`;
}

/** A value as short text. Large values are cut before they are written out. */
export function show(value: unknown): string {
  if (typeof value === "string")
    return cut(
      JSON.stringify(value.length > 4 * VALUE_LIMIT ? cut(value, 2 * VALUE_LIMIT) : value),
      VALUE_LIMIT,
    );
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value) && value.length > VALUE_LIMIT) {
    return cut(`${JSON.stringify(value.slice(0, 20))} and ${value.length - 20} more`, VALUE_LIMIT);
  }
  return cut(value === undefined ? "nothing" : JSON.stringify(value), VALUE_LIMIT);
}
