/** Text of guests and models for a terminal: nothing in it moves the cursor, changes colours or turns the direction of writing. */

/**
 * Controls (C0, DEL, C1), line and paragraph separators, marks of direction, invisible operators, and lone surrogates. The first
 * class leaves tabs and line ends alone.
 */
const unsafe =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the point is to find them
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text with what is unsafe written as `\xNN` or `\u{NNNN}`. Line ends and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(unsafe, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`;
  });
}

/** The same on one line: line ends and tabs are written out, too. */
export function printable(text: string): string {
  return printableLines(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** JSON of a value that is safe to print, too: what JSON leaves as it is and a terminal acts on is escaped. Bytes are base64. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, (_key, held: unknown) =>
    held instanceof Uint8Array
      ? Buffer.from(held.buffer, held.byteOffset, held.byteLength).toString("base64")
      : held,
  );
  return text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
