/** Debian control data: paragraphs of `Field: value`, continued by lines that start with a blank (deb822(5)). */
export type Paragraph = Map<string, string>;

/** Parses one paragraph. Field names keep their case; a value keeps its continuation lines as they are. */
export function parseParagraph(source: string): Paragraph {
  const paragraph: Paragraph = new Map();
  let name: string | undefined;
  for (const line of source.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith(" ") || line.startsWith("\t")) {
      if (name !== undefined) paragraph.set(name, `${paragraph.get(name) ?? ""}\n${line}`);
      continue;
    }
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    name = line.slice(0, colon);
    paragraph.set(name, line.slice(colon + 1).trim());
  }
  return paragraph;
}

/** Walks over a file of paragraphs without building a string for each of them that nobody asks for. */
export function* paragraphs(source: string): Generator<string, void, void> {
  let start = 0;
  while (start < source.length) {
    let end = source.indexOf("\n\n", start);
    if (end < 0) end = source.length;
    const piece = source.slice(start, end);
    if (piece.trim() !== "") yield piece;
    start = end + 2;
  }
}

/** Writes a paragraph back, fields in the order of the map. */
export function formatParagraph(paragraph: Paragraph): string {
  let out = "";
  for (const [name, value] of paragraph)
    out += value.startsWith("\n") ? `${name}:${value}\n` : `${name}: ${value}\n`;
  return out;
}
