/** TOML 1.0 by smol-toml. */
import { parse } from "smol-toml";
import type { Json } from "../../assertions/schema.js";
import { JSON_DEPTH } from "../../parse/json.js";
import { refusing, toJson } from "../../parse/tree.js";

/**
 * Dates and times become text, as the file writes their parts. Throws `ContentFault`: the format itself forbids a key twice; NaN,
 * infinities and integers beyond 2^53 have no JSON.
 */
export function parseToml(text: string, what: string): Json {
  const document = refusing(what, "TOML", () => parse(text, { maxDepth: JSON_DEPTH }));
  return toJson(document, what);
}
