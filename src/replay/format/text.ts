/** Texts as the format takes them: UTF-8 where that can say them, else UTF-16. */
import { isUtf8 } from "node:buffer";

/** What every engine of ours has, and the language's library here does not tell of yet. */
type Text = string & { isWellFormed(): boolean; toWellFormed(): string };

/** Without lone surrogates, which UTF-8 cannot say. */
export function isWellFormed(text: string): boolean {
  return (text as Text).isWellFormed();
}

/** With U+FFFD in the place of each lone surrogate. */
export function toWellFormed(text: string): string {
  return (text as Text).toWellFormed();
}

/** The text, a byte order mark included; null where the bytes are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | null {
  if (!isUtf8(bytes)) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Code units, the more significant byte first. */
export function toUtf16(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}

/** Null for half a code unit. */
export function fromUtf16(bytes: Uint8Array): string | null {
  if (bytes.byteLength % 2 !== 0) return null;
  return Buffer.from(bytes).swap16().toString("utf16le");
}
