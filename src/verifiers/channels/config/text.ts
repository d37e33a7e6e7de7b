/** Bytes of a configuration file to text. */
import { decodeMarked } from "../../parse/text.js";
import { ContentFault } from "../../value.js";

/** Bytes of a configuration file; what people configure is far smaller. */
const CONFIG_LIMIT = 4 * 1024 * 1024;

/**
 * UTF-8, or UTF-16 with its byte order mark (registry exports). The mark says how the text is written and is no part of it. Throws
 * `ContentFault` for other encodings and for files above 4 MiB.
 */
export function decodeConfig(bytes: Uint8Array, what: string): string {
  if (bytes.length > CONFIG_LIMIT) throw new ContentFault(`${what} is larger than ${CONFIG_LIMIT} bytes`);
  const wide = wideEncoding(bytes);
  return wide === undefined ? decodeMarked(bytes, what) : decodeWide(bytes, wide, what);
}

function wideEncoding(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}

function decodeWide(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be", what: string): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ContentFault(`${what} is not valid UTF-16`);
  }
}
