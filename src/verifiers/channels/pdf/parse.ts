/** The text of PDF documents, by pdf.js: no fonts, images, scripts or network. */
import type { Json } from "../../assertions/schema.js";
import { splitLines } from "../../assertions/text.js";
import { asFault, setKey } from "../../parse/tree.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import { countingAllocations } from "./allocation.js";
import { loadPdfLibrary, type PdfDocument } from "./library.js";
import type { PdfQuery } from "./query.js";

/** Pages whose text is read. */
const PAGE_LIMIT = 2_000;
/** Characters of all of them. */
const TEXT_LIMIT = 4 * 1024 * 1024;
/** Fields of a form. */
const FIELD_LIMIT = 10_000;
/** Between pages, as `pdftotext` has it. */
const PAGE_BREAK = "\f";

export const parsePdf: Parser<PdfQuery> = async (bytes, query, what): Promise<Answer> => {
  if (!Buffer.from(bytes.subarray(0, 1_024)).toString("latin1").includes("%PDF-"))
    throw new ContentFault(`${what} is no PDF`);
  const library = await loadPdfLibrary();
  return countingAllocations(what, async () => {
    const tables = new MissingTables();
    const task = library.getDocument({
      // The library takes the bytes for its own.
      data: Uint8Array.from(bytes),
      verbosity: library.VerbosityLevel.ERRORS,
      // What is broken is a fault, and not repaired.
      stopAtErrors: true,
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      useWasm: false,
      isOffscreenCanvasSupported: false,
      isImageDecoderSupported: false,
      enableXfa: false,
      maxImageSize: 0,
      BinaryDataFactory: tables.factory,
    });
    try {
      const found = await answer(await task.promise, query, what);
      tables.refuse(what);
      return found;
    } catch (error) {
      throw asFault(error, what, "a readable PDF");
    } finally {
      await task.destroy();
    }
  });
};

/** Tables of encodings that a document names and does not hold. The library goes on without such a text, and so without a word. */
class MissingTables {
  private readonly names = new Set<string>();
  /** Asked by the library for whatever it does not have; nothing is ever fetched. */
  readonly factory: new () => { fetch(wanted: { kind: string; filename: string }): Promise<never> };

  constructor() {
    const { names } = this;
    this.factory = class {
      fetch({ kind, filename }: { kind: string; filename: string }): Promise<never> {
        if (kind === "cMapUrl") names.add(filename.replace(/\.bcmap$/, ""));
        return Promise.reject(new Error(`${filename} is not part of the document`));
      }
    };
  }

  refuse(what: string): void {
    const [first] = this.names;
    if (first !== undefined)
      throw new ContentFault(`${what} has text in the encoding ${first}, whose table it does not hold`);
  }
}

async function answer(document: PdfDocument, query: PdfQuery, what: string): Promise<Answer> {
  switch (query.kind) {
    case "pages":
      return { type: "number", value: document.numPages };
    case "info":
      return { type: "json", value: await infoOf(document) };
    case "fields":
      return { type: "json", value: await fieldsOf(document, what) };
    case "text":
    case "lines": {
      if (query.page !== undefined && query.page > document.numPages)
        return { absent: `${what} has ${document.numPages} pages and no page ${query.page}` };
      const pages = await textOf(document, query.page, what);
      if (query.kind === "text") return { type: "text", value: pages.join(PAGE_BREAK) };
      return { type: "list", value: pages.flatMap((page) => splitLines(page)) };
    }
  }
}

async function textOf(document: PdfDocument, only: number | undefined, what: string): Promise<string[]> {
  const count = only === undefined ? document.numPages : 1;
  if (count > PAGE_LIMIT) throw new ContentFault(`${what} has more than ${PAGE_LIMIT} pages`);
  const texts: string[] = [];
  let characters = 0;
  for (let index = 0; index < count; index++) {
    const page = await document.getPage(only ?? index + 1);
    const content = await page.getTextContent();
    const text = content.items
      .map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""))
      .join("");
    characters += text.length;
    if (characters > TEXT_LIMIT) throw new ContentFault(`${what} holds more than ${TEXT_LIMIT} characters`);
    texts.push(text);
    page.cleanup();
  }
  return texts;
}

const infoFields = {
  title: "Title",
  author: "Author",
  subject: "Subject",
  keywords: "Keywords",
  creator: "Creator",
  producer: "Producer",
  created: "CreationDate",
  modified: "ModDate",
} as const;

/** What the document says of itself; null where it does not. Dates are text as PDF writes them. */
async function infoOf(document: PdfDocument): Promise<Json> {
  const info = (await document.getMetadata()).info;
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const named = Object.entries(infoFields).map(([name, key]) => [name, text(info[key])] as const);
  return { ...Object.fromEntries(named), version: text(info.PDFFormatVersion), pages: document.numPages };
}

/** Form fields by their full name, with their value: text, a list of texts, a boolean or null. */
async function fieldsOf(document: PdfDocument, what: string): Promise<Json> {
  const found = Object.entries((await document.getFieldObjects()) ?? {});
  if (found.length > FIELD_LIMIT) throw new ContentFault(`${what} has more than ${FIELD_LIMIT} fields`);
  const fields: { [key: string]: Json } = {};
  for (const [name, widgets] of found) {
    // Folders of fields come without a widget of their own.
    const widget = widgets.find((one) => one.type !== "");
    if (widget !== undefined) setKey(fields, name, valueOf(widget.value));
  }
  return fields;
}

function valueOf(value: unknown): Json {
  if (typeof value === "string" || typeof value === "boolean" || typeof value === "number") return value;
  if (Array.isArray(value)) return value.map(valueOf);
  return null;
}
