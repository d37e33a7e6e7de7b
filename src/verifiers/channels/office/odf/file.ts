/** An OpenDocument file: a zip archive that says in `mimetype` what it is. */
import { decodeText } from "../../../parse/text.js";
import type { ArchiveEntry } from "../../../parse/entries.js";
import { findAll, parseXml, type XmlNode, type XmlOptions } from "../../../parse/xml.js";
import { ContentFault } from "../../../value.js";

const MIMETYPE = "mimetype";
const FAMILY = "application/vnd.oasis.opendocument.";
/** Bytes of a media type. */
const MIMETYPE_LIMIT = 200;

/** What is read: documents and workbooks, and what new ones are made from. */
const families: Readonly<Record<string, "document" | "workbook">> = {
  text: "document",
  "text-template": "document",
  spreadsheet: "workbook",
  "spreadsheet-template": "workbook",
};

/** Whether a package says that it is an OpenDocument. */
export function isOpenDocument(parts: ReadonlyMap<string, ArchiveEntry>): boolean {
  return parts.has(MIMETYPE);
}

export class OpenDocument {
  /** Names the file in faults. */
  readonly what: string;
  readonly family: "document" | "workbook";
  private readonly parts: ReadonlyMap<string, ArchiveEntry>;

  /** Throws `ContentFault` for a kind that is not read, for a password, and for a file that is an Office Open XML file as well. */
  constructor(parts: ReadonlyMap<string, ArchiveEntry>, what: string) {
    this.what = what;
    this.parts = parts;
    if (parts.has("[Content_Types].xml"))
      throw new ContentFault(`${what} is an OpenDocument and an Office Open XML file at once`);
    const mimetype = parts.get(MIMETYPE);
    if (mimetype === undefined || mimetype.size > MIMETYPE_LIMIT)
      throw new ContentFault(`${what} does not say what OpenDocument it is`);
    const type = decodeText(mimetype.read(), `${what}: ${MIMETYPE}`).trim();
    const kind = type.startsWith(FAMILY) ? type.slice(FAMILY.length) : "";
    const family = Object.hasOwn(families, kind) ? families[kind] : undefined;
    if (family === undefined)
      throw new ContentFault(`${what} is of the type ${JSON.stringify(type)}, which is not read`);
    this.family = family;
    const manifest = "META-INF/manifest.xml";
    if (parts.has(manifest) && findAll(this.xml(manifest), "encryption-data").length > 0)
      throw new ContentFault(`${what} has a password, which is not read`);
  }

  has(part: string): boolean {
    return this.parts.has(part);
  }

  /** A part's tree, with its text in its place. Throws `ContentFault` where there is none. */
  xml(part: string, options: XmlOptions = {}): XmlNode {
    const entry = this.parts.get(part);
    if (entry === undefined) throw new ContentFault(`${this.what} lacks its part ${part}`);
    return parseXml(entry.read(), `${this.what}: ${part}`, { ...options, mixed: true });
  }
}
