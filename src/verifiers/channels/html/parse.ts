import { decodeMarked } from "../../parse/text.js";
import type { Answer } from "../../value.js";
import type { Parser } from "../parsers.js";
import { answerSelector, selectOnly } from "../selector.js";
import { parseHtmlDocument } from "./document.js";
import type { HtmlQuery } from "./query.js";
import { readTable } from "./table.js";

export const parseHtml: Parser<HtmlQuery> = (bytes, query, what): Answer => {
  const document = parseHtmlDocument(decodeMarked(bytes, what), what);
  if (query.kind !== "table") return answerSelector(document, query, false, what);
  const table = selectOnly(document, query.selector, false, what);
  if (table === null) return { absent: `${what}: nothing matches ${JSON.stringify(query.selector)}` };
  return { type: "table", ...readTable(table, query, what) };
};
