/** Values as they are compared: typed ones, and lists and fields of those. What could not be read stays what it was. */
import type { Json } from "../../verifiers/assertions/json-value.js";

/** Something that a type made comparable, with its alternatives. */
export interface Typed {
  readonly kind: string;
  readonly alternatives: readonly unknown[];
  /** The first alternative, as a report shows it. */
  readonly shown: Json;
}

export class TypedValue implements Typed {
  readonly kind: string;
  readonly alternatives: readonly unknown[];
  readonly shown: Json;
  constructor(kind: string, alternatives: readonly unknown[], shown: Json) {
    this.kind = kind;
    this.alternatives = alternatives;
    this.shown = shown;
  }
}

export type Value = TypedValue | Fields | readonly Value[] | string | number | boolean | null;

/** Fields by name; a map, since names are not ours. */
export class Fields extends Map<string, Value> {}

/** What a report shows of a value. */
export function shownValue(value: Value): Json {
  if (value instanceof TypedValue) return value.shown;
  if (value instanceof Fields) {
    return Object.fromEntries([...value].map(([name, held]) => [name, shownValue(held)]));
  }
  return Array.isArray(value) ? value.map((one) => shownValue(one as Value)) : (value as Json);
}

/** JSON as values, without types. */
export function rawValue(value: Json): Value {
  if (Array.isArray(value)) return value.map(rawValue);
  if (typeof value !== "object" || value === null) return value;
  return new Fields(Object.entries(value).map(([name, held]) => [name, rawValue(held)]));
}
