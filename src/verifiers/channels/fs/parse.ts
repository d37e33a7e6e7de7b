/** A file's bytes as text, lines, a number, JSON or a table. */
import { splitLines } from "../../assertions/text.js";
import { ContentFault, type Value } from "../../value.js";
import { parseCsv } from "../../parse/csv.js";
import { parseJson } from "../../parse/json.js";
import type { Parser } from "../parsers.js";
import type { FsQuery } from "./query.js";
import { decodeText, parseNumber } from "../../parse/text.js";

export const parseFs: Parser<FsQuery> = (bytes, query, what): Value => {
  const text = decodeText(bytes, what);
  switch (query.kind) {
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
      return { type: "table", ...parseCsv(text, query, what) };
    default:
      throw new Error(`${query.kind} parses nothing`);
  }
};
