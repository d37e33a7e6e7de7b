import { ContentFault } from "../value.js";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes to text; a byte order mark is kept, since nothing is repaired silently. Throws `ContentFault`. */
export function decodeText(bytes: Uint8Array, what: string): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ContentFault(`${what} is not valid UTF-8`);
  }
}

/** As `decodeText`, without the byte order mark that formats with an encoding of their own allow. Throws `ContentFault`. */
export function decodeMarked(bytes: Uint8Array, what: string): string {
  const text = decodeText(bytes, what);
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** No number that people write is longer. */
const NUMBER_LENGTH = 400;

/** One decimal number with nothing around it but white space. Throws `ContentFault`. */
export function parseNumber(text: string, what: string): number {
  const trimmed = text.length > NUMBER_LENGTH ? text.slice(0, NUMBER_LENGTH + 1).trim() : text.trim();
  const value = NUMBER.test(trimmed) && trimmed.length <= NUMBER_LENGTH ? Number(trimmed) : Number.NaN;
  if (!Number.isFinite(value))
    throw new ContentFault(`${what} is not a number: ${JSON.stringify(trimmed.slice(0, 80))}`);
  return value;
}
