/** Lines of a file or of standard input that end with a line feed: `readline` ends them at other characters too, which JSON may hold. */

/**
 * The lines of a stream of UTF-8. A line beyond the limit comes cut, one character longer than it may be, so that who reads it sees
 * that; its rest is passed over. Rejects with what the stream says.
 */
export async function* textLines(
  input: AsyncIterable<Buffer | string>,
  charactersAtMost: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let held = "";
  for await (const chunk of input) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const pieces = text.split("\n");
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) {
        yield held;
        held = "";
      }
      if (held.length <= charactersAtMost) held = (held + piece).slice(0, charactersAtMost + 1);
    }
  }
  held += decoder.decode();
  if (held !== "") yield held;
}
