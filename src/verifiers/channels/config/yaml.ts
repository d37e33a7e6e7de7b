/** YAML 1.2, core schema: `yes` and `on` are words. */
import { Composer, type Document, isAlias, isCollection, isMap, isScalar, Parser, visit } from "yaml";
import type { Json } from "../../assertions/schema.js";
import { asFault, refusing, toJson } from "../../parse/tree.js";
import { ContentFault } from "../../value.js";

/** Bytes of text; the library keeps a tree of tokens that is far larger. */
const YAML_LIMIT = 256 * 1024;
/** Uses of anchors, each weighted with the anchors that it holds itself. */
const ALIAS_LIMIT = 100;

/**
 * Parses one document. Throws `ContentFault` for a second one, a key that stands twice or is a collection, a tag of another schema,
 * aliases that expand too far, and integers beyond 2^53.
 */
export function parseYaml(text: string, what: string): Json {
  if (text.length > YAML_LIMIT) throw new ContentFault(`${what} is larger than ${YAML_LIMIT} characters`);
  const document = refusing(what, "YAML", () => compose(text, what));
  if (document === undefined) return null;
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) throw asFault(fault, what, "YAML");
  return refusing(what, "YAML", () => {
    visit(document, { Map: (_, map) => refuseKeys(map.items, what) });
    return toJson(document.toJS({ maxAliasCount: ALIAS_LIMIT }), what);
  });
}

/** The one document of a text; the first thing amiss ends the reading, however much follows. */
function compose(text: string, what: string): Document | undefined {
  // The library's own search for keys that stand twice is quadratic; `refuseKeys` is not.
  const composer = new Composer({ version: "1.2", uniqueKeys: false, intAsBigInt: true });
  const documents: Document[] = [];
  const take = (found: Iterable<Document>): void => {
    for (const document of found) {
      documents.push(document);
      if (documents.length > 1) throw new ContentFault(`${what} holds more than 1 document`);
    }
  };
  for (const token of new Parser().parse(text)) {
    if (token.type === "error") throw new Error(token.message);
    take(composer.next(token));
  }
  take(composer.end());
  return documents[0];
}

function refuseKeys(items: readonly { key: unknown }[], what: string): void {
  const seen = new Set<string>();
  for (const { key } of items) {
    if (isMap(key) || isCollection(key) || isAlias(key))
      throw new ContentFault(`${what} has a key that is no scalar`);
    const name = String(isScalar(key) ? (key.value ?? "") : key);
    if (seen.has(name)) throw new ContentFault(`${what} has the key ${JSON.stringify(name)} twice`);
    seen.add(name);
  }
}
