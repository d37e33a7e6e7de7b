/** Code fences around a whole answer. */

/** What stands in exactly one fence around the whole text; null where there is none, or where one stands in it. */
export function insideFence(text: string): string | null {
  const lines = text.split("\n");
  const opening = /^(`{3,}|~{3,})[^`]*$/.exec(lines[0] ?? "")?.[1];
  if (opening === undefined || lines.length < 2) return null;
  const closes = (line: string): boolean => {
    const mark = /^(`{3,}|~{3,})\r?$/.exec(line)?.[1];
    return mark?.[0] === opening[0] && mark !== undefined && mark.length >= opening.length;
  };
  const first = lines.findIndex((line, at) => at > 0 && closes(line));
  return first === lines.length - 1 ? lines.slice(1, -1).join("\n") : null;
}
