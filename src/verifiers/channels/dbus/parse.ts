/** What busctl prints as JSON: `{type, data}`, with a list of values in `data` for a call. */
import type { Element } from "domhandler";
import type { Json } from "../../assertions/schema.js";
import { parseJson } from "../../parse/json.js";
import { decodeText } from "../../parse/text.js";
import { type Answer, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import { parseXmlDocument } from "../xml/document.js";
import type { DbusQuery } from "./query.js";

export const parseDbus: Parser<DbusQuery> = (bytes, query, what): Answer => {
  const reply = parseJson(decodeText(bytes, `${what}: the reply`), `${what}: the reply`);
  if (query.kind === "property" || query.kind === "call") return { type: "json", value: reply };
  const first = firstOf(reply);
  if (query.kind === "names" && Array.isArray(first) && first.every((name) => typeof name === "string"))
    // Names of connections are numbers that come and go.
    return { type: "list", value: first.filter((name) => !name.startsWith(":")).sort() };
  if (query.kind === "introspect" && typeof first === "string")
    return { type: "json", value: interfacesOf(first, `${what}: the description`) };
  if (query.kind === "properties" && first !== undefined) return { type: "json", value: first };
  throw new ContentFault(`${what}: the reply is not one to ${query.kind}`);
};

/** The only value of a call's reply. */
function firstOf(reply: Json): Json | undefined {
  if (typeof reply !== "object" || reply === null || Array.isArray(reply)) return undefined;
  const data = reply["data"];
  return Array.isArray(data) ? data[0] : undefined;
}

const elements = (parent: { children: readonly unknown[] }, name: string): Element[] =>
  (parent.children as Element[]).filter((child) => "attribs" in child && child.name === name);
const nameOf = ({ attribs }: Element): string => attribs["name"] ?? "";

/** `{interfaces: {NAME: {methods, signals, properties: {NAME: {type, access}}}}, nodes}`, lists sorted. */
function interfacesOf(xml: string, what: string): Json {
  const [node] = elements(parseXmlDocument(xml, what), "node");
  if (node === undefined) throw new ContentFault(`${what} is no description of an object`);
  const names = (parent: Element, kind: string): string[] => elements(parent, kind).map(nameOf).sort();
  const interfaces = elements(node, "interface").map((face): [string, Json] => {
    const properties = elements(face, "property").map((one): [string, Json] => [
      nameOf(one),
      { type: one.attribs["type"] ?? null, access: one.attribs["access"] ?? null },
    ]);
    const described = { methods: names(face, "method"), signals: names(face, "signal") };
    return [nameOf(face), { ...described, properties: Object.fromEntries(properties) }];
  });
  return { interfaces: Object.fromEntries(interfaces), nodes: names(node, "node") };
}
