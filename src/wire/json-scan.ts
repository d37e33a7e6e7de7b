/**
 * Walks a JSON text before `JSON.parse` and refuses what that lets pass in silence: duplicate keys, numbers
 * beyond 2^53-1 (integers are rounded there), and nesting or sizes beyond the limits. Grammar is left to `JSON.parse`:
 * this walk needs to be right only about texts that parse.
 */
import { ShinkenError } from "../errors/index.js";
import type { WireLimits } from "./limits.js";
import { formatPath } from "./path.js";

interface Frame {
  /** Keys so far; undefined in an array. */
  keys: Set<string> | undefined;
  entries: number;
  /** In a map: whether the next string is a key. */
  atKey: boolean;
  key: string;
}

/** Throws `bad_message` or `too_large`, with the path of the fault. */
export function scanJson(text: string, limits: WireLimits): void {
  const frames: Frame[] = [];
  let values = 0;

  const path = () =>
    formatPath(frames.map((frame) => (frame.keys === undefined ? frame.entries : frame.key)));
  const refuse = (
    what: string,
    code: "bad_message" | "too_large" = "bad_message",
    suggestion?: string,
  ): never => {
    throw new ShinkenError(code, `${path()}: ${what}`, { path: path(), suggestion });
  };
  const countValue = () => {
    if (++values > limits.maxValues)
      refuse(`the message holds more than ${limits.maxValues} values`, "too_large");
  };
  const open = (keys: Set<string> | undefined) => {
    countValue();
    if (frames.length >= limits.maxDepth) {
      refuse(`the message is nested more than ${limits.maxDepth} levels deep`, "too_large");
    }
    frames.push({ keys, entries: 0, atKey: keys !== undefined, key: "" });
  };
  const comma = (frame: Frame) => {
    frame.entries++;
    frame.atKey = frame.keys !== undefined;
    const limit = frame.keys === undefined ? limits.maxArrayEntries : limits.maxMapEntries;
    if (frame.entries >= limit) refuse(`more than ${limit} entries`, "too_large");
  };

  for (let at = 0; at < text.length; ) {
    const character = text.charCodeAt(at);
    const frame = frames[frames.length - 1];
    switch (character) {
      case 0x20:
      case 0x09:
      case 0x0a:
      case 0x0d:
      case 0x3a:
        at++;
        break;
      case 0x7b:
        open(new Set());
        at++;
        break;
      case 0x5b:
        open(undefined);
        at++;
        break;
      case 0x7d:
      case 0x5d:
        frames.pop();
        at++;
        break;
      case 0x2c:
        if (frame !== undefined) comma(frame);
        at++;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        if (end < 0) refuse("a string does not end");
        if (end - at - 2 > limits.maxStringBytes) {
          refuse(`a string has more than ${limits.maxStringBytes} characters`, "too_large");
        }
        if (frame?.keys !== undefined && frame.atKey) {
          const key = keyOf(text.slice(at, end));
          frame.key = key;
          frame.atKey = false;
          if (frame.keys.has(key)) refuse("the key occurs twice");
          if (key === "__proto__") refuse("the key is not allowed");
          frame.keys.add(key);
        } else {
          countValue();
        }
        at = end;
        break;
      }
      case 0x74:
      case 0x66:
      case 0x6e:
        countValue();
        while (at < text.length && isLetter(text.charCodeAt(at))) at++;
        break;
      default: {
        if (character === 0x4e || character === 0x49 || text.startsWith("-I", at)) {
          refuse("NaN and Infinity are not JSON", "bad_message", "send null or a finite number");
        }
        const end = endOfNumber(text, at);
        if (end === at) refuse(`unexpected character at position ${at}`);
        countValue();
        const literal = text.slice(at, end);
        const value = Number(literal);
        if (Math.abs(value) > Number.MAX_SAFE_INTEGER) refuse(`${literal.slice(0, 40)} is beyond 2^53-1`);
        at = end;
      }
    }
  }
}

/** Index behind the closing quote, or -1. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x5c) at++;
    else if (character === 0x22) return at + 1;
  }
  return -1;
}

function endOfNumber(text: string, start: number): number {
  let at = start;
  while (at < text.length && /[-+0-9.eE]/.test(text.charAt(at))) at++;
  return at;
}

/** Two spellings of a key ("a", "\u0061") are one key. */
function keyOf(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}

function isLetter(character: number): boolean {
  return character >= 0x61 && character <= 0x7a;
}
