/** Candidates that are records. */
import type { Candidate } from "../../types.js";

/** A record of two keys as `a: 1, b: 2`. */
export function record(keys: readonly string[]): (...values: readonly string[]) => Candidate {
  return (...values) => ({ text: keys.map((key, at) => `${key}: ${values[at] ?? ""}`).join(", "), values });
}
