import type { Json } from "../assertions/schema.js";
import { ContentFault } from "../value.js";

/** Nesting beyond this is refused, so that no later step has to fear for its stack. */
export const JSON_DEPTH = 256;

/** Parses exactly one JSON value. Throws `ContentFault`. */
export function parseJson(text: string, what: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw new ContentFault(`${what} is not JSON: ${error instanceof Error ? error.message : "unreadable"}`);
  }
  // Breadth first by levels: the depth is bounded before anything recurses.
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > JSON_DEPTH) throw new ContentFault(`${what} is nested deeper than ${JSON_DEPTH}`);
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const field of Object.values(one))
        if (typeof field === "object" && field !== null) next.push(field);
    }
    level = next;
  }
  return value;
}
