/** Expected values: a literal, a grading asset, or another query. */
import { z } from "zod";
import { channelQuery } from "../channels/schema.js";
import { isJsonObject, json } from "./json-value.js";

export { type Json, json } from "./json-value.js";

export const assetReference = z.strictObject({ asset: z.string().min(1) });
export const otherQuery = z.strictObject({ from: channelQuery });
const escaped = z.strictObject({ literal: json });

/** Keys that make an object an expected value by reference. */
const referenceKeys = ["asset", "from", "literal"];
const plainJson = json.refine(
  (value) =>
    !(
      isJsonObject(value) &&
      Object.keys(value).length === 1 &&
      referenceKeys.includes(Object.keys(value)[0] ?? "")
    ),
  "an object with the single key asset, from or literal is a reference; write {literal: {...}} to mean the object",
);

/** A literal, a grading asset or another query. */
export function expected<T extends z.ZodType>(literal: T) {
  return z.union([literal, assetReference, otherQuery]);
}
export const expectedJson = z.union([assetReference, otherQuery, escaped, plainJson]);
export type ExpectedJson = z.output<typeof expectedJson>;

/** A rule that one of these fields is given. */
export function atLeastOne(keys: readonly string[]) {
  return {
    check: (value: object) => keys.some((key) => (value as Record<string, unknown>)[key] !== undefined),
    message: `needs at least one of ${keys.join(", ")}`,
  };
}

/** Places of an assertion where its expected values stand: its fields, and the time that a date counts from. */
export function expectedPlaces(assertion: object): { key: string; path: string[]; value: unknown }[] {
  return Object.entries(assertion).flatMap(([key, value]: [string, unknown]) => {
    const places = [{ key, path: [key], value }];
    const relative = typeof value === "object" && value !== null && "reference" in value;
    return relative && (assertion as { type?: string }).type === "date"
      ? [...places, { key, path: [key, "reference"], value: value.reference }]
      : places;
  });
}
