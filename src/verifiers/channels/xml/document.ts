/**
 * XML to a tree. A document type is passed over: no entity but the five of the standard exists, so nothing expands, and nothing
 * outside the file is ever asked for.
 */
import { Document, Element, type ParentNode, Text } from "domhandler";
import { SaxesParser } from "saxes";
import { ContentFault } from "../../value.js";
import { DEPTH_LIMIT, NODE_LIMIT } from "../selector.js";

/** Throws `ContentFault` for what is not well-formed, names an entity of its own, or is too large or too deep. */
export function parseXmlDocument(text: string, what: string): Document {
  const document = new Document([]);
  const open: ParentNode[] = [document];
  let nodes = 0;
  const add = (node: Element | Text): void => {
    if (++nodes > NODE_LIMIT) throw new ContentFault(`${what} has more than ${NODE_LIMIT} nodes`);
    const parent = open.at(-1) ?? document;
    const before = parent.children.at(-1) ?? null;
    node.parent = parent;
    node.prev = before;
    if (before !== null) before.next = node;
    parent.children.push(node);
  };
  const parser = new SaxesParser({ xmlns: false, position: true });
  parser.on("error", (error) => {
    throw new ContentFault(`${what} is not well-formed XML: ${error.message}`);
  });
  parser.on("xmldecl", ({ encoding }) => {
    if (encoding !== undefined && !/^(utf-8|us-ascii)$/i.test(encoding))
      throw new ContentFault(`${what} is encoded in ${encoding.slice(0, 40)}; only UTF-8 is read`);
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > DEPTH_LIMIT) throw new ContentFault(`${what} is nested deeper than ${DEPTH_LIMIT}`);
    const element = new Element(name, { ...attributes });
    add(element);
    open.push(element);
  });
  parser.on("closetag", () => {
    open.pop();
  });
  parser.on("text", (data) => add(new Text(data)));
  parser.on("cdata", (data) => add(new Text(data)));
  parser.write(text).close();
  return document;
}
