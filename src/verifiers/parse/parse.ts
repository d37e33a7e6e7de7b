/** Bytes to values, by the name of a format. Pure, so that large inputs can go to a worker. */
import { splitLines } from "../assertions/text.js";
import { ContentFault, type Value } from "../value.js";
import { type CsvOptions, parseCsv } from "./csv.js";
import { parseJson } from "./json.js";
import { decodeText, parseNumber } from "./text.js";

export type Format =
  | { kind: "text" }
  | { kind: "lines" }
  | { kind: "number" }
  | { kind: "json" }
  | ({ kind: "csv" } & CsvOptions);

/** Parses bytes; `what` names them in faults. Throws `ContentFault`. */
export function parseBytes(bytes: Uint8Array, format: Format, what: string): Value {
  const text = decodeText(bytes, what);
  switch (format.kind) {
    case "text":
      return { type: "text", value: text };
    case "lines":
      return { type: "list", value: splitLines(text) };
    case "number":
      return { type: "number", value: parseNumber(text, what) };
    case "json":
      if (text.trim() === "") throw new ContentFault(`${what} is empty, which is not JSON`);
      return { type: "json", value: parseJson(text, what) };
    case "csv":
      return { type: "table", ...parseCsv(text, format, what) };
  }
}

/** Bytes above which parsing leaves the main thread. */
export const PARSE_INLINE_LIMIT = 64 * 1024;
