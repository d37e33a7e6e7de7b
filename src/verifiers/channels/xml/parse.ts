import { decodeMarked } from "../../parse/text.js";
import type { Parser } from "../parsers.js";
import { answerSelector } from "../selector.js";
import { parseXmlDocument } from "./document.js";
import type { XmlQuery } from "./query.js";

export const parseXml: Parser<XmlQuery> = (bytes, query, what) =>
  answerSelector(parseXmlDocument(decodeMarked(bytes, what), what), query, true, what);
