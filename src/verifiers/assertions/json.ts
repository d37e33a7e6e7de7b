import { nearest } from "../../errors/nearest.js";
import { show } from "../evidence.js";
import { ContentFault, type Judgement } from "../value.js";
import { Demands, type GroundJson } from "./ground.js";
import { isJsonObject, type JsonObject } from "./json-value.js";
import type { Json, Shape } from "./schema.js";

/** The value at a JSON Pointer (RFC 6901), or undefined where nothing is. */
export function atPointer(document: Json, pointer: string): Json | undefined {
  let current: Json | undefined = document;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(current)) current = /^(0|[1-9]\d{0,8})$/.test(key) ? current[Number(key)] : undefined;
    else if (current !== undefined && isJsonObject(current))
      current = Object.hasOwn(current, key) ? current[key] : undefined;
    else return undefined;
  }
  return current;
}

/** Deep equality of JSON values: types never mix, so null is not 0 and "3" is not 3. Key order does not count. */
export function jsonEquals(a: Json, b: Json, tolerance = 0): boolean {
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= tolerance;
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => jsonEquals(item, b[index] as Json, tolerance))
    );
  }
  if (isJsonObject(a)) {
    if (!isJsonObject(b)) return false;
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && jsonEquals(a[key] as Json, b[key] as Json, tolerance))
    );
  }
  return a === b;
}

/** Whether every key of `part` is in `whole` with a value that holds likewise; arrays are compared whole. */
export function jsonIncludes(whole: Json, part: Json, tolerance = 0): boolean {
  if (!isJsonObject(part)) return jsonEquals(whole, part, tolerance);
  if (!isJsonObject(whole)) return false;
  return Object.entries(part).every(
    ([key, value]) => Object.hasOwn(whole, key) && jsonIncludes(whole[key] as Json, value, tolerance),
  );
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Where and how a value breaks a shape. */
export interface Breach {
  path: (string | number)[];
  /** Said of the value at the path. */
  why: string;
  /** A key at the path that the shape does not know. */
  key?: string;
  /** The key or the value that was probably meant. */
  meant?: string | undefined;
}

/** The first place where a value breaks a shape, in words, or undefined if it fits. `at` is the value's JSON Pointer. */
export function shapeFault(value: Json, shape: Shape, at = ""): string | undefined {
  const breach = breachOf(value, shape);
  if (breach === undefined) return undefined;
  const place = at + breach.path.map((part) => `/${part}`).join("");
  return `${place === "" ? "the value" : place} ${breach.why}`;
}

/** The first place where a value breaks a shape, or undefined if it fits. */
export function breachOf(value: Json, shape: Shape, path: (string | number)[] = []): Breach | undefined {
  const type = typeName(value);
  if (shape.type !== undefined) {
    const fits = shape.type === "integer" ? Number.isInteger(value) : type === shape.type;
    if (!fits) return { path, why: `is ${type}, not ${shape.type}` };
  }
  if (shape.enum !== undefined && !shape.enum.some((one) => jsonEquals(one, value))) {
    const texts = shape.enum.filter((one) => typeof one === "string");
    const meant = typeof value === "string" ? nearest(value, texts) : undefined;
    return { path, why: "is none of the allowed values", meant };
  }
  if (typeof value === "number") {
    if (shape.min !== undefined && value < shape.min) return { path, why: `is below ${shape.min}` };
    if (shape.max !== undefined && value > shape.max) return { path, why: `is above ${shape.max}` };
  }
  if (Array.isArray(value)) {
    if (shape.min_items !== undefined && value.length < shape.min_items)
      return { path, why: `has fewer than ${shape.min_items} items` };
    if (shape.max_items !== undefined && value.length > shape.max_items)
      return { path, why: `has more than ${shape.max_items} items` };
    if (shape.items !== undefined) {
      for (const [index, item] of value.entries()) {
        const inner = breachOf(item, shape.items, [...path, index]);
        if (inner !== undefined) return inner;
      }
    }
  }
  return isJsonObject(value) ? objectBreach(value, shape, path) : undefined;
}

function objectBreach(value: JsonObject, shape: Shape, path: (string | number)[]): Breach | undefined {
  const properties = shape.properties ?? {};
  // An unknown key explains the missing one beside it.
  const unknown =
    shape.closed === true ? Object.keys(value).find((key) => !Object.hasOwn(properties, key)) : undefined;
  if (unknown !== undefined) {
    const free = Object.keys(properties).filter((key) => !Object.hasOwn(value, key));
    return { path, why: `has the unknown key ${show(unknown)}`, key: unknown, meant: nearest(unknown, free) };
  }
  const missing = shape.required?.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return { path, why: `lacks ${show(missing)}` };
  for (const [key, item] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const breach = inner === undefined ? undefined : breachOf(item, inner, [...path, key]);
    if (breach !== undefined) return breach;
  }
  return undefined;
}

/** Judges a JSON document. A path that leads nowhere fails every demand but `exists: false`. */
export function judgeJson(assertion: GroundJson, document: Json): Judgement {
  const { path, equals, subset, schema, exists, length, tolerance } = assertion;
  const value = atPointer(document, path);
  const place = path === "" ? "the document" : path;
  const demands = new Demands();
  if (exists !== undefined)
    demands.add(
      (value !== undefined) === exists,
      `${place} ${value === undefined ? "does not exist" : "exists"}`,
    );
  if (value === undefined) {
    const others = [equals, subset, schema, length].some((one) => one !== undefined);
    if (others) demands.add(false, `there is nothing at ${place}`);
    return demands.judge();
  }
  if (equals !== undefined) {
    demands.add(
      jsonEquals(value, equals.value, tolerance),
      `${place} equals ${show(equals.value)}: saw ${show(value)}`,
    );
  }
  if (subset !== undefined) {
    demands.add(
      jsonIncludes(value, subset.value, tolerance),
      `${place} includes ${show(subset.value)}: saw ${show(value)}`,
    );
  }
  if (schema !== undefined) {
    const fault = shapeFault(value, schema, path);
    demands.add(fault === undefined, fault ?? `${place} has the shape`);
  }
  if (length !== undefined) {
    const actual = lengthOf(value, place);
    demands.add(actual === length, `${place} has length ${length}: saw ${actual}`);
  }
  return demands.judge();
}

function lengthOf(value: Json, place: string): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  throw new ContentFault(`${place} is ${typeName(value)} and has no length`);
}
