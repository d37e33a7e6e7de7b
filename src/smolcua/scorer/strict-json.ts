/**
 * JSON as the contracts take it: one document of RFC 8259, no duplicate keys however they are escaped, numbers by their exact value.
 * `JSON.parse` decides what is a document; it lets duplicates pass and rounds numbers, so values are read once more from the text.
 */
import { visit } from "jsonc-parser";

/** Levels of nesting that are read. */
export const depthAtMost = 64;

/** A number as its exact value: equal texts are equal values. */
export class Decimal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Exact = null | boolean | string | Decimal | Exact[] | Map<string, Exact>;

export type JsonFault = "bad_json" | "duplicate_key" | "too_deep";

/** The value of a text, or what is wrong with it. */
export function readJson(text: string): { value: Exact } | { fault: JsonFault } {
  if (deepest(text) > depthAtMost) return { fault: "too_deep" };
  try {
    JSON.parse(text);
  } catch {
    return { fault: "bad_json" };
  }
  return build(text);
}

/** A value of JavaScript as it would be read from its JSON; what `readJson` gave stays. Throws a RangeError for what JSON has not. */
export function exactOf(value: unknown): Exact {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (value instanceof Decimal) return value;
  if (typeof value === "number" && Number.isFinite(value)) return decimalOf(JSON.stringify(value));
  if (Array.isArray(value)) return value.map(exactOf);
  if (value instanceof Map) return value as Map<string, Exact>;
  if (typeof value === "object")
    return new Map(Object.entries(value).map(([name, held]) => [name, exactOf(held)]));
  throw new RangeError(`JSON has no value of type ${typeof value}`);
}

/** The value as a document. */
export function writeJson(value: Exact): string {
  if (value instanceof Decimal) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (value instanceof Map)
    return `{${[...value].map(([name, held]) => `${JSON.stringify(name)}:${writeJson(held)}`).join(",")}}`;
  return JSON.stringify(value);
}

/** The value with JavaScript's own objects and numbers, which round. */
export function plainOf(value: Exact): unknown {
  if (value instanceof Decimal) return Number(value.text);
  if (Array.isArray(value)) return value.map(plainOf);
  if (value instanceof Map) {
    // `fromEntries` keeps a key `__proto__` as a key.
    return Object.fromEntries([...value].map(([name, held]) => [name, plainOf(held)]));
  }
  return value;
}

export function equalExact(a: Exact, b: Exact): boolean {
  if (a instanceof Decimal) return b instanceof Decimal && a.text === b.text;
  if (Array.isArray(a))
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, at) => equalExact(item, b[at] ?? null))
    );
  if (a instanceof Map)
    return (
      b instanceof Map &&
      a.size === b.size &&
      [...a].every(([name, value]) => b.has(name) && equalExact(value, b.get(name) ?? null))
    );
  return a === b;
}

/** The one way to write a number's value: digits without zeros around them, and a power of ten. */
export function decimalOf(literal: string): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (match === null) throw new RangeError(`no number of JSON: ${literal}`);
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return new Decimal("0");
  const exponent = BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - kept.length);
  return new Decimal(`${sign}${kept}e${exponent}`);
}

/** Reads a text that is known to be a document. */
function build(text: string): { value: Exact } | { fault: JsonFault } {
  const holders: (Exact[] | Map<string, Exact>)[] = [];
  let root: Exact = null;
  let name = "";
  const names: string[] = [];
  const doubled: string[] = [];
  const put = (value: Exact): void => {
    const holder = holders.at(-1);
    if (holder === undefined) root = value;
    else if (Array.isArray(holder)) holder.push(value);
    else holder.set(name, value);
  };
  const open = (holder: Exact[] | Map<string, Exact>): void => {
    put(holder);
    holders.push(holder);
    names.push(name);
  };
  const close = (): void => {
    holders.pop();
    name = names.pop() ?? "";
  };
  visit(
    text,
    {
      onObjectBegin: () => {
        open(new Map());
      },
      onObjectEnd: close,
      onArrayBegin: () => {
        open([]);
      },
      onArrayEnd: close,
      onObjectProperty: (property) => {
        const holder = holders.at(-1);
        if (holder instanceof Map && holder.has(property)) doubled.push(property);
        name = property;
      },
      onLiteralValue: (value: unknown, offset, length) => {
        put(typeof value === "number" ? decimalOf(text.slice(offset, offset + length)) : (value as Exact));
      },
    },
    { disallowComments: true, allowTrailingComma: false },
  );
  return doubled.length > 0 ? { fault: "duplicate_key" } : { value: root };
}

/** The deepest nesting of brackets outside of strings. */
function deepest(text: string): number {
  let depth = 0;
  let most = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "[" || character === "{") most = Math.max(most, ++depth);
    else if (character === "]" || character === "}") depth -= 1;
  }
  return most;
}
