/** Writes a path as people read it: `actions[0].argv`. An empty path is `(message)`. */
export function formatPath(segments: readonly PropertyKey[]): string {
  let text = "";
  for (const segment of segments) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += text === "" ? String(segment) : `.${String(segment)}`;
  }
  return text === "" ? "(message)" : text;
}
