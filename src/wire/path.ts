import { formatPath as formatDocumentPath } from "../errors/parse.js";

/** Writes a path as people read it: `actions[0].argv`. An empty path is `(message)`. */
export function formatPath(segments: readonly PropertyKey[]): string {
  return formatDocumentPath(segments) || "(message)";
}
