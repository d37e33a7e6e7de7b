/** Turning what a machine said into text that is safe to show, to log and to put into JSON, and bounded in size. */

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes as text: valid UTF-8 stays, a byte that is none and a control character become `\xNN`. */
export function showBytes(bytes: Uint8Array): { text: string; escaped: boolean } {
  let raw: string;
  let escaped = false;
  try {
    raw = decoder.decode(bytes);
  } catch {
    raw = decodeWithEscapes(bytes);
    escaped = true;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the point is to find them
  const text = raw.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, (character) => {
    escaped = true;
    return `\\x${(character.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`;
  });
  return { text, escaped };
}

function decodeWithEscapes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  let good = 0;
  let at = 0;
  while (at < buffer.length) {
    const length = sequenceLength(buffer, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(buffer.toString("utf8", good, at), `\\x${byteAt(buffer, at).toString(16).padStart(2, "0")}`);
    at += 1;
    good = at;
  }
  parts.push(buffer.toString("utf8", good, at));
  return parts.join("");
}

/** Length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), or 0. */
function sequenceLength(buffer: Buffer, at: number): number {
  const first = byteAt(buffer, at);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = byteAt(buffer, at + 1);
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (let index = 2; index < length; index += 1) {
    const next = byteAt(buffer, at + index);
    if (next < 0x80 || next > 0xbf) return 0;
  }
  return length;
}

function byteAt(buffer: Buffer, at: number): number {
  return buffer[at] ?? 0;
}

/** Keeps the head and the tail of a long text and says in between how much was left out. */
export function cutMiddle(text: string, maxChars: number): { text: string; truncated: boolean } {
  if (text.length <= maxChars) return { text, truncated: false };
  return {
    text: joinEnds(text, text, maxChars, `${text.length - maxChars} characters left out`),
    truncated: true,
  };
}

/** The start of one text and the end of another, together `maxChars` at most, and a mark between them. */
export function joinEnds(first: string, last: string, maxChars: number, mark: string): string {
  const head = trimToCharacter(first.slice(0, Math.ceil(maxChars / 2)), "end");
  const tail = trimToCharacter(last.slice(last.length - Math.floor(maxChars / 2)), "start");
  return `${head}\n[... ${mark} ...]\n${tail}`;
}

/** A cut must not part a surrogate pair: half of one is no text and breaks encoders. */
function trimToCharacter(text: string, side: "start" | "end"): string {
  const unit = side === "end" ? text.charCodeAt(text.length - 1) : text.charCodeAt(0);
  if (side === "end" && unit >= 0xd800 && unit <= 0xdbff) return text.slice(0, -1);
  if (side === "start" && unit >= 0xdc00 && unit <= 0xdfff) return text.slice(1);
  return text;
}

/** `showBytes` and `cutMiddle` in one, for one output stream. `dropped` bytes never left the guest. */
export function showStream(
  bytes: Uint8Array,
  dropped: number,
  maxChars: number,
): { text: string; truncated: boolean } {
  const shown = cutMiddle(showBytes(bytes).text, maxChars);
  if (dropped === 0) return shown;
  return { text: `${shown.text}\n[... ${dropped} further bytes were not kept ...]`, truncated: true };
}
