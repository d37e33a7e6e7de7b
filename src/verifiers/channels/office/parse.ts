/** Office files: what it is, and who answers. */
import { toJson } from "../../parse/tree.js";
import type { XmlNode } from "../../parse/xml.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import { documentAnswer } from "./docx/answer.js";
import { bookAnswer, bookText, openDocumentProperties, textAnswer } from "./odf/answer.js";
import { isOpenDocument, OpenDocument } from "./odf/file.js";
import { OfficePackage, openParts } from "./package.js";
import { presentationAnswer } from "./pptx/answer.js";
import { propertiesOf } from "./properties.js";
import type { OfficeQuery } from "./query.js";
import { workbookAnswer, workbookText } from "./xlsx/answer.js";

const families = { workbook: "a workbook", document: "a document", presentation: "a presentation" } as const;
type Family = keyof typeof families;

export const parseOffice: Parser<OfficeQuery> = (bytes, query, what): Answer => {
  const answer = answerOf(bytes, query, what);
  // Parts may be named, and texts shared, far more often than they stand in the file.
  return "type" in answer && answer.type === "json"
    ? { type: "json", value: toJson(answer.value, what) }
    : answer;
};

function answerOf(bytes: Uint8Array, query: OfficeQuery, what: string): Answer {
  const parts = openParts(bytes, what);
  if (isOpenDocument(parts)) return openDocumentAnswer(new OpenDocument(parts, what), query);
  const file = new OfficePackage(parts, what);
  const root = file.xml(file.main);
  if (!Object.hasOwn(families, root.name))
    throw new ContentFault(`${what} is no workbook, document or presentation, but <${root.name}>`);
  const family = root.name as Family;
  const only = (wanted: Family): XmlNode => {
    if (family !== wanted) throw new ContentFault(`${what} is ${families[family]}, not ${families[wanted]}`);
    return root;
  };
  switch (query.kind) {
    case "properties":
      return { type: "json", value: propertiesOf(file) };
    case "text":
      if (family === "workbook") return { type: "text", value: workbookText(file, root) };
      if (family === "document") return documentAnswer(file, root, query);
      return presentationAnswer(file, root, query);
    case "paragraphs":
    case "document":
    case "table":
      return documentAnswer(file, only("document"), query);
    case "slides":
    case "slide":
      return presentationAnswer(file, only("presentation"), query);
    default:
      return workbookAnswer(file, only("workbook"), query);
  }
}

function openDocumentAnswer(file: OpenDocument, query: OfficeQuery): Answer {
  const only = (wanted: Family): OpenDocument => {
    if (file.family !== wanted)
      throw new ContentFault(`${file.what} is ${families[file.family]}, not ${families[wanted]}`);
    return file;
  };
  switch (query.kind) {
    case "properties":
      return { type: "json", value: openDocumentProperties(file) };
    case "text":
      return file.family === "workbook" ? { type: "text", value: bookText(file) } : textAnswer(file, query);
    case "paragraphs":
    case "document":
    case "table":
      return textAnswer(only("document"), query);
    case "slides":
    case "slide":
      only("presentation");
      throw new Error("no OpenDocument that is read is a presentation");
    default:
      return bookAnswer(only("workbook"), query);
  }
}
