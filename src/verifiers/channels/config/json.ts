/** JSON in which a key stands once, and JSON with comments and trailing commas. */
import { createScanner, type ParseErrorCode, printParseErrorCode, visit } from "jsonc-parser";
import type { Json } from "../../assertions/schema.js";
import { JSON_DEPTH } from "../../parse/json.js";
import { setKey } from "../../parse/tree.js";
import { ContentFault } from "../../value.js";

/** The scanner's tokens that open and close; its enum exists for the compiler alone. */
const OPENS = new Set([1, 3]);
const CLOSES = new Set([2, 4]);
const END_OF_FILE = 17;

type Container = { [key: string]: Json } | Json[];

/**
 * Parses one value. `relaxed` takes comments and trailing commas. Throws `ContentFault` with the line for anything else, for a key
 * that stands twice, and for an integer that a number cannot hold exactly.
 */
export function parseStrictJson(text: string, relaxed: boolean, what: string): Json {
  refuseDepth(text, what);
  const open: { container: Container; key: string }[] = [];
  let root: Json | undefined;
  const refuse = (why: string, line: number): ContentFault =>
    new ContentFault(`${what}: line ${line + 1}: ${why}`);
  const place = (value: Json): void => {
    const parent = open.at(-1);
    if (parent === undefined) root = value;
    else if (Array.isArray(parent.container)) parent.container.push(value);
    else setKey(parent.container, parent.key, value);
  };
  const enter = (container: Container): void => {
    place(container);
    open.push({ container, key: "" });
  };
  const name = relaxed ? "JSON with comments" : "JSON";
  visit(
    text,
    {
      onObjectBegin: () => enter({}),
      onArrayBegin: () => enter([]),
      onObjectEnd: () => void open.pop(),
      onArrayEnd: () => void open.pop(),
      onObjectProperty: (key, _offset, _length, line) => {
        const parent = open.at(-1);
        if (parent === undefined) return;
        if (Object.hasOwn(parent.container, key))
          throw refuse(`the key ${JSON.stringify(key)} stands twice`, line);
        parent.key = key;
      },
      onLiteralValue: (value: Json, offset, length, line) => {
        const written = typeof value === "number" ? text.slice(offset, offset + length) : "";
        if (typeof value === "number" && !isExact(value, written))
          throw refuse(`${written} is a number that cannot be held exactly`, line);
        place(value);
      },
      onError: (code: ParseErrorCode, _offset, _length, line) => {
        throw refuse(`not ${name}: ${printParseErrorCode(code)}`, line);
      },
    },
    { disallowComments: !relaxed, allowTrailingComma: relaxed, allowEmptyContent: false },
  );
  if (root === undefined) throw new ContentFault(`${what} is empty, which is not ${name}`);
  return root;
}

function isExact(value: number, written: string): boolean {
  return Number.isFinite(value) && (!/^-?\d+$/.test(written) || Number.isSafeInteger(value));
}

/** The library goes down one call a level, so the depth is bounded ahead of it. */
function refuseDepth(text: string, what: string): void {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== END_OF_FILE; token = scanner.scan()) {
    if (OPENS.has(token) && ++depth > JSON_DEPTH)
      throw new ContentFault(`${what} is nested deeper than ${JSON_DEPTH}`);
    if (CLOSES.has(token)) depth--;
  }
}
