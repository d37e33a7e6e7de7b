/** CSS selectors of the html and xml channels, and what they find in a document. */
import { compile, selectAll } from "css-select";
import { parse, type Selector, SelectorType } from "css-what";
import { type AnyNode, type Document, type Element, isText } from "domhandler";
import { z } from "zod";
import { type Answer, ContentFault } from "../value.js";
import { guestPath, maxBytes } from "./describe.js";

/** Characters of a selector. */
const SELECTOR_LIMIT = 2_000;
/** Elements that one query may find. */
export const MATCH_LIMIT = 10_000;
/** Characters of all texts that one query returns. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/** Elements, texts and comments of a document. */
export const NODE_LIMIT = 200_000;
/** Elements that lie in each other: what walks a tree later may recurse. */
export const DEPTH_LIMIT = 256;

/** A name with a prefix is a name as it is written: `dc|title` finds `<dc:title>`. */
function prefixed(selectors: Selector[][]): Selector[][] {
  return selectors.map((chain) =>
    chain.map((one): Selector => {
      if ("name" in one && "namespace" in one && one.namespace !== null && one.namespace !== "*") {
        const name = one.namespace === "" ? one.name : `${one.namespace}:${one.name}`;
        return { ...one, name, namespace: null };
      }
      if (one.type === SelectorType.Pseudo && Array.isArray(one.data))
        return { ...one, data: prefixed(one.data) };
      return one;
    }),
  );
}

/** What is wrong with a selector, or undefined. */
function selectorFault(text: string): string | undefined {
  try {
    compile<AnyNode, Element>(prefixed(parse(text)));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "not a selector";
  }
}

export const selector = z
  .string()
  .min(1)
  .max(SELECTOR_LIMIT)
  .superRefine((text, context) => {
    const fault = selectorFault(text);
    if (fault !== undefined) context.addIssue({ code: "custom", message: `not a selector: ${fault}` });
  });

const common = { path: guestPath, max_bytes: maxBytes, selector };
/** Trimmed, and each run of white space as one space; or exactly as in the document. */
const space = z.enum(["collapse", "keep"]);

/** The kinds of query that html and xml share. `white` says what is made of white space unless an author says. */
export function selectorKinds(white: z.output<typeof space>) {
  return [
    z.strictObject({ kind: z.literal("texts"), ...common, space: space.default(white) }),
    z.strictObject({ kind: z.literal("text"), ...common, space: space.default(white) }),
    z.strictObject({ kind: z.literal("attributes"), ...common, name: z.string().min(1).max(200) }),
    z.strictObject({ kind: z.literal("count"), ...common }),
  ] as const;
}

export const selectorResults = { texts: "list", text: "text", attributes: "list", count: "number" } as const;

type SelectorQuery = z.output<ReturnType<typeof selectorKinds>[number]>;

/** Every element that a selector finds, in document order. Throws `ContentFault` for more than 10,000. */
export function select(document: Document, text: string, xmlMode: boolean, what: string): Element[] {
  const found = selectAll<AnyNode, Element>(
    compile<AnyNode, Element>(prefixed(parse(text)), { xmlMode }),
    document,
    { xmlMode },
  );
  if (found.length > MATCH_LIMIT)
    throw new ContentFault(`${what}: the selector finds more than ${MATCH_LIMIT} elements`);
  return found;
}

/** The one element that a selector finds; null where there is none. Throws `ContentFault` for several. */
export function selectOnly(document: Document, text: string, xmlMode: boolean, what: string): Element | null {
  const found = select(document, text, xmlMode, what);
  if (found.length > 1)
    throw new ContentFault(`${what}: ${JSON.stringify(text)} finds ${found.length} elements instead of 1`);
  return found[0] ?? null;
}

/** Elements whose text no reader sees. */
const SILENT = new Set(["script", "style", "template"]);

/** The text of an element and all below it, without scripts, styles and comments. */
export function textOf(element: AnyNode, white: z.output<typeof space>): string {
  const parts: string[] = [];
  const visit = (node: AnyNode): void => {
    if (isText(node)) parts.push(node.data);
    else if ("children" in node && !("name" in node && SILENT.has(node.name) && node !== element))
      for (const child of node.children) visit(child);
  };
  visit(element);
  const text = parts.join("");
  return white === "keep" ? text : text.replace(/[ \t\r\n\f]+/g, " ").trim();
}

/** Answers a query of one of the shared kinds. */
export function answerSelector(
  document: Document,
  query: SelectorQuery,
  xmlMode: boolean,
  what: string,
): Answer {
  if (query.kind === "text") {
    const only = selectOnly(document, query.selector, xmlMode, what);
    if (only === null) return { absent: `${what}: nothing matches ${JSON.stringify(query.selector)}` };
    return { type: "text", value: textOf(only, query.space) };
  }
  const found = select(document, query.selector, xmlMode, what);
  if (query.kind === "count") return { type: "number", value: found.length };
  const values =
    query.kind === "texts"
      ? boundedTexts(found, (element) => textOf(element, query.space), what)
      : found.flatMap(({ attribs }) =>
          Object.hasOwn(attribs, query.name) ? [attribs[query.name] ?? ""] : [],
        );
  return { type: "list", value: values };
}

/** Elements may lie in each other, and then their texts hold one another. */
export function boundedTexts(
  elements: readonly Element[],
  read: (element: Element) => string,
  what: string,
): string[] {
  let size = 0;
  return elements.map((element) => {
    const text = read(element);
    size += text.length;
    if (size > TEXT_LIMIT) throw new ContentFault(`${what}: more than ${TEXT_LIMIT} characters of text`);
    return text;
  });
}

/** Refuses a document that is too deep. Does not recurse. */
export function refuseDeep(document: Document, what: string): void {
  let level: AnyNode[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_LIMIT) throw new ContentFault(`${what} is nested deeper than ${DEPTH_LIMIT}`);
    level = level.flatMap((node) => ("children" in node ? node.children : []));
  }
}
