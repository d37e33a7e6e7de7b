/** Property lists: XML, and binary by its first bytes. */
import type { Json } from "../../assertions/schema.js";
import { parseNumber } from "../../parse/text.js";
import { exactInteger, setKey, TreeBudget } from "../../parse/tree.js";
import { parseXml, type XmlNode } from "../../parse/xml.js";
import { ContentFault } from "../../value.js";
import { BINARY_PLIST, parseBinaryPlist } from "./binary-plist.js";

/** Bytes of a property list. */
const PLIST_LIMIT = 4 * 1024 * 1024;

/** Dates become ISO text, data `{data: base64}`. Throws `ContentFault`. */
export function parsePlist(bytes: Uint8Array, what: string): Json {
  if (bytes.length > PLIST_LIMIT) throw new ContentFault(`${what} is larger than ${PLIST_LIMIT} bytes`);
  if (Buffer.from(bytes.subarray(0, BINARY_PLIST.length)).toString("latin1") === BINARY_PLIST)
    return parseBinaryPlist(bytes, what);
  const root = parseXml(bytes, what, { doctype: true });
  const [only, second] = root.children;
  if (root.name !== "plist" || only === undefined || second !== undefined)
    throw new ContentFault(`${what} is not a property list of one value`);
  return valueOf(only, what, new TreeBudget(what), 0);
}

function valueOf(node: XmlNode, what: string, budget: TreeBudget, depth: number): Json {
  budget.node(depth);
  switch (node.name) {
    case "string":
      return budget.text(node.text);
    case "true":
    case "false":
      return node.name === "true";
    case "integer":
      return integerOf(node.text.trim(), what);
    case "real":
      return parseNumber(node.text, `${what}: a real`);
    case "date":
      return dateOf(node.text.trim(), what);
    case "data":
      return { data: budget.text(base64Of(node.text, what)) };
    case "array":
      return node.children.map((child) => valueOf(child, what, budget, depth + 1));
    case "dict":
      return dictOf(node, what, budget, depth);
    default:
      throw new ContentFault(`${what} holds <${node.name}>, which no property list has`);
  }
}

function dictOf(node: XmlNode, what: string, budget: TreeBudget, depth: number): Json {
  const made: { [key: string]: Json } = {};
  for (let at = 0; at < node.children.length; at += 2) {
    const key = node.children[at];
    const value = node.children[at + 1];
    if (key?.name !== "key" || value === undefined)
      throw new ContentFault(`${what} has a dict whose keys and values do not alternate`);
    if (Object.hasOwn(made, key.text))
      throw new ContentFault(`${what} has the key ${JSON.stringify(key.text)} twice`);
    setKey(made, budget.text(key.text), valueOf(value, what, budget, depth + 1));
  }
  return made;
}

function integerOf(text: string, what: string): number {
  if (!/^[+-]?(0x[0-9a-f]{1,16}|\d{1,40})$/i.test(text))
    throw new ContentFault(`${what}: not an integer: ${JSON.stringify(text.slice(0, 80))}`);
  const magnitude = BigInt(text.replace(/^[+-]/, ""));
  return exactInteger(text.startsWith("-") ? -magnitude : magnitude, what);
}

function dateOf(text: string, what: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text))
    throw new ContentFault(`${what}: not a date: ${JSON.stringify(text.slice(0, 80))}`);
  return text;
}

function base64Of(text: string, what: string): string {
  const packed = text.replaceAll(/\s/g, "");
  const bytes = Buffer.from(packed, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== packed.replace(/=+$/, ""))
    throw new ContentFault(`${what}: data is not base64`);
  return bytes.toString("base64");
}
