/** What a parser of a foreign format made, as JSON of bounded size. */
import type { Json } from "../assertions/schema.js";
import { ContentFault } from "../value.js";
import { JSON_DEPTH } from "./json.js";

/** Values in one document, each counted as often as it is reached. */
const NODE_LIMIT = 1_000_000;
/** Characters of all texts and keys together, counted likewise: one text may be reached through many aliases. */
const TEXT_LIMIT = 16 * 1024 * 1024;

/** Sets a key whatever its name: `__proto__` becomes a key like any other. */
export function setKey(object: { [key: string]: Json }, key: string, value: Json): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/** Counts what a document holds. Throws `ContentFault` beyond a limit. */
export class TreeBudget {
  private nodes = 0;
  private characters = 0;
  private readonly what: string;

  constructor(what: string) {
    this.what = what;
  }

  node(depth: number): void {
    if (depth > JSON_DEPTH) throw new ContentFault(`${this.what} is nested deeper than ${JSON_DEPTH}`);
    if (++this.nodes > NODE_LIMIT)
      throw new ContentFault(`${this.what} holds more than ${NODE_LIMIT} values, aliases counted`);
  }

  text(text: string): string {
    this.characters += text.length;
    if (this.characters > TEXT_LIMIT)
      throw new ContentFault(`${this.what} holds more than ${TEXT_LIMIT} characters, aliases counted`);
    return text;
  }
}

/**
 * Plain data of a library as JSON. Dates become ISO text. Throws `ContentFault` for what JSON has no value for (NaN, infinities,
 * integers beyond 2^53) and for what is nested too deeply or expands too far.
 */
export function toJson(value: unknown, what: string, budget = new TreeBudget(what), depth = 0): Json {
  budget.node(depth);
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return budget.text(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new ContentFault(`${what} holds ${value}, which JSON has not`);
    return value;
  }
  if (typeof value === "bigint") return exactInteger(value, what);
  if (value instanceof Date) return budget.text(value.toISOString());
  if (Array.isArray(value)) return value.map((item) => toJson(item, what, budget, depth + 1));
  if (typeof value !== "object")
    throw new ContentFault(`${what} holds a ${typeof value}, which JSON has not`);
  const made: { [key: string]: Json } = {};
  for (const [key, item] of Object.entries(value))
    setKey(made, budget.text(key), toJson(item, what, budget, depth + 1));
  return made;
}

/** An integer as a number. Throws `ContentFault` where that would be a rounding. */
export function exactInteger(value: bigint, what: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
    throw new ContentFault(`${what} holds the integer ${value}, which a number cannot hold exactly`);
  return Number(value);
}

/** Runs a library on hostile bytes: whatever it throws is the content's fault, in one line. */
export function refusing<T>(what: string, format: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw asFault(error, what, format);
  }
}

/** What a library threw on hostile bytes, as a fault of theirs. A stack that ran out means nesting. */
export function asFault(error: unknown, what: string, format: string): ContentFault {
  if (error instanceof ContentFault) return error;
  const message = error instanceof Error ? error.message : String(error);
  // Some libraries report it as an error of their own, with a place that depends on the thread's stack.
  if (/call stack/.test(message)) return new ContentFault(`${what} is nested deeper than ${JSON_DEPTH}`);
  return new ContentFault(`${what} is not ${format}: ${message.split("\n")[0] ?? ""}`);
}
