/**
 * The two encodings of the native dialect: msgpack in binary frames and JSON in text frames. Both carry the same
 * messages: maps with string keys, arrays, strings, booleans, null, numbers up to 2^53-1 in
 * magnitude.
 */
import { Buffer } from "node:buffer";
import { Decoder, Encoder } from "@msgpack/msgpack";
import { ShinkenError } from "../errors/index.js";
import { scanJson } from "./json-scan.js";
import { defaultWireLimits, type WireLimits } from "./limits.js";
import { scanMsgpack } from "./msgpack-scan.js";
import { formatPath } from "./path.js";

export type Encoding = "msgpack" | "json";

/** Nesting that we ourselves may send; far above what any reply of ours has. */
const maxDepthSent = 64;

const encoder = new Encoder({ ignoreUndefined: true, maxDepth: maxDepthSent + 1 });
const decoder = new Decoder();

/**
 * Decodes one frame. Throws `bad_message` or `too_large` with the path of the fault; never returns a value that was
 * rounded, merged or repaired.
 */
export function decodeMessage(
  bytes: Uint8Array,
  encoding: Encoding,
  limits: WireLimits = defaultWireLimits,
): unknown {
  if (bytes.length > limits.maxMessageBytes) {
    throw new ShinkenError(
      "too_large",
      `the message has ${bytes.length} bytes; the limit is ${limits.maxMessageBytes}`,
      {
        path: "(message)",
      },
    );
  }
  if (encoding === "msgpack") {
    scanMsgpack(bytes, limits);
    return decoder.decode(bytes);
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  scanJson(text, limits);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ShinkenError("bad_message", `not valid JSON: ${(cause as Error).message}`, {
      path: "(message)",
      cause,
    });
  }
}

/**
 * Encodes one message: a string for a text frame, or bytes for a binary one. The bytes are valid only until the next
 * call: copy them to keep them. Fields that are undefined are left out. Throws `internal` with the path of a value
 * that the wire cannot carry.
 */
export function encodeMessage(message: unknown, encoding: Encoding): string | Uint8Array {
  assertCarriable(message, [], 0);
  return encoding === "json" ? JSON.stringify(message) : encoder.encodeSharedRef(message);
}

function assertCarriable(value: unknown, path: PropertyKey[], depth: number): void {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return;
    case "number":
      if (!Number.isFinite(value)) fail(path, "NaN and infinity cannot be sent");
      // JSON would print a float of this size as an integer, which its reader must refuse as rounded.
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) fail(path, "numbers beyond 2^53-1 cannot be sent");
      return;
    case "object":
      if (value === null) return;
      if (depth >= maxDepthSent) fail(path, "too deeply nested");
      if (Array.isArray(value)) {
        for (let i = 0; i < value.length; i++) {
          path.push(i);
          assertCarriable(value[i], path, depth + 1);
          path.pop();
        }
        return;
      }
      if (
        ArrayBuffer.isView(value) ||
        value instanceof Date ||
        value instanceof Map ||
        value instanceof Set
      ) {
        fail(path, "only plain maps, arrays and scalars can be sent");
      }
      for (const key in value) {
        path.push(key);
        assertCarriable((value as Record<string, unknown>)[key], path, depth + 1);
        path.pop();
      }
      return;
    default:
      fail(path, `a ${typeof value} cannot be sent`);
  }
}

function fail(path: PropertyKey[], what: string): never {
  throw new ShinkenError("internal", `${formatPath(path)}: ${what}`, { path: formatPath(path) });
}
