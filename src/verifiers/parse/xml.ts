/** XML of hostile files as a tree of bounded size, on saxes: no entities beyond XML's own five, nothing fetched. */
import { SaxesParser, type SaxesTagNS } from "saxes";
import { ContentFault } from "../value.js";
import { asFault } from "./tree.js";

/** Elements within elements. */
const DEPTH_LIMIT = 256;
/** Elements of one document, those that were handed on and forgotten included. */
const ELEMENT_LIMIT = 4_000_000;
/** Elements in memory at a time. */
const KEPT_LIMIT = 400_000;
/** Attributes of one element. */
const ATTRIBUTE_LIMIT = 256;
/** Bytes of one document. */
const XML_LIMIT = 32 * 1024 * 1024;

const RELATIONSHIPS = new Set([
  "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
  "http://purl.oclc.org/ooxml/officeDocument/relationships",
]);
const XML_SPACE = "http://www.w3.org/XML/1998/namespace";
/** Namespaces of OpenDocument, whose attributes are known by these prefixes whatever the document calls them. */
const OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:";
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ...["office", "style", "text", "table", "meta", "manifest"].map((name): [string, string] => [
    `${OPEN_DOCUMENT}${name}:1.0`,
    name,
  ]),
  [`${OPEN_DOCUMENT}drawing:1.0`, "draw"],
  [`${OPEN_DOCUMENT}xsl-fo-compatible:1.0`, "fo"],
  [`${OPEN_DOCUMENT}svg-compatible:1.0`, "svg"],
  ["http://www.w3.org/1999/xlink", "xlink"],
  ["urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0", "calcext"],
]);
/** Name of the nodes that stand for text among elements. */
export const TEXT_NODE = "#text";

export interface XmlNode {
  /** Without its prefix. */
  name: string;
  /**
   * By name: bare where the attribute has no namespace or its element's, `r:id` for relationships of an office document, `xml:space`
   * for XML's own, `fo:color` and the like for OpenDocument's, and with the document's prefix otherwise.
   */
  attributes: ReadonlyMap<string, string>;
  children: XmlNode[];
  /** The text directly within, in one piece. */
  text: string;
}

export interface XmlOptions {
  /**
   * Elements by name whose tree is handed over when it is complete, and then forgotten; they are in no parent's `children`. `depth`
   * counts the elements that hold it.
   */
  each?: Readonly<Record<string, (node: XmlNode, depth: number) => void>>;
  /** Text stands among the children too, where it is, as nodes named `#text`. */
  mixed?: boolean;
  /** Takes a document type that names an external subset, which is never read. One with declarations of its own is always refused. */
  doctype?: boolean;
}

/** Parses a document; `what` names it in faults. Throws `ContentFault` for what is malformed or beyond a limit. */
export function parseXml(bytes: Uint8Array, what: string, options: XmlOptions = {}): XmlNode {
  const parser = new SaxesParser({ xmlns: true, position: true, fileName: "" });
  const open: XmlNode[] = [];
  let root: XmlNode | undefined;
  let elements = 0;
  let kept = 0;
  let attributes = 0;
  const refuse = (why: string): never => {
    throw new ContentFault(`${what}: ${why} (line ${parser.line})`);
  };
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("xmldecl", ({ encoding }) => {
    if (encoding !== undefined && !/^(utf-?8|utf-?16(le|be)?|us-ascii)$/i.test(encoding))
      refuse(`is encoded as ${encoding}, which is not read`);
  });
  parser.on("doctype", (declaration) => {
    if (options.doctype !== true || declaration.includes("["))
      refuse("declares a document type, whose entities are not expanded");
  });
  parser.on("opentagstart", () => {
    attributes = 0;
  });
  parser.on("attribute", () => {
    if (++attributes > ATTRIBUTE_LIMIT) refuse(`an element has more than ${ATTRIBUTE_LIMIT} attributes`);
  });
  parser.on("opentag", (tag) => {
    if (open.length >= DEPTH_LIMIT) refuse(`nested deeper than ${DEPTH_LIMIT}`);
    if (++elements > ELEMENT_LIMIT) refuse(`more than ${ELEMENT_LIMIT} elements`);
    if (++kept > KEPT_LIMIT) refuse(`more than ${KEPT_LIMIT} elements`);
    const node: XmlNode = { name: tag.local, attributes: attributesOf(tag), children: [], text: "" };
    if (options.each?.[tag.local] === undefined) open.at(-1)?.children.push(node);
    root ??= node;
    open.push(node);
  });
  const addText = (text: string): void => {
    const node = open.at(-1);
    if (node === undefined) return;
    node.text += text;
    if (options.mixed !== true) return;
    const last = node.children.at(-1);
    if (last?.name === TEXT_NODE) last.text += text;
    else {
      if (++kept > KEPT_LIMIT) refuse(`more than ${KEPT_LIMIT} elements`);
      node.children.push({ name: TEXT_NODE, attributes: new Map(), children: [], text });
    }
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => {
    const node = open.pop();
    const take = node === undefined ? undefined : options.each?.[node.name];
    if (node === undefined || take === undefined) return;
    take(node, open.length);
    kept -= sizeOf(node);
  });
  try {
    parser.write(decodeXml(bytes, what)).close();
  } catch (error) {
    throw asFault(error, what, "XML");
  }
  if (root === undefined) throw new ContentFault(`${what} is not XML: it has no element`);
  return root;
}

function sizeOf(node: XmlNode): number {
  return node.children.reduce((sum, child) => sum + sizeOf(child), 1);
}

function attributesOf(tag: SaxesTagNS): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name, local, uri, value } of Object.values(tag.attributes)) {
    if (uri === "" || uri === tag.uri) found.set(local, value);
    else if (RELATIONSHIPS.has(uri)) found.set(`r:${local}`, value);
    else {
      const prefix = uri === XML_SPACE ? "xml" : PREFIXES.get(uri);
      found.set(prefix === undefined ? name : `${prefix}:${local}`, value);
    }
  }
  return found;
}

function decodeXml(bytes: Uint8Array, what: string): string {
  if (bytes.length > XML_LIMIT) throw new ContentFault(`${what} is larger than ${XML_LIMIT} bytes`);
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe;
  const big = bytes[0] === 0xfe && bytes[1] === 0xff;
  const encoding = wide ? "utf-16le" : big ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new ContentFault(`${what} is not valid ${encoding.slice(0, 6).toUpperCase()}`);
  }
}

/** The first child of a name. */
export function childOf(node: XmlNode | undefined, name: string): XmlNode | undefined {
  return node?.children.find((child) => child.name === name);
}

/** All children of a name. */
export function childrenOf(node: XmlNode | undefined, name: string): XmlNode[] {
  return node?.children.filter((child) => child.name === name) ?? [];
}

/** The element at the end of a chain of first children. */
export function descend(node: XmlNode | undefined, ...names: string[]): XmlNode | undefined {
  return names.reduce<XmlNode | undefined>(childOf, node);
}

/** Every element of a name below, in document order; not searched within those found. */
export function findAll(node: XmlNode | undefined, name: string, into: XmlNode[] = []): XmlNode[] {
  for (const child of node?.children ?? []) {
    if (child.name === name) into.push(child);
    else findAll(child, name, into);
  }
  return into;
}
