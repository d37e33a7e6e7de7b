/** A scorer node: a published scorer by its id, and where the fields of its input come from. */
import { z } from "zod";
import { parseOrThrow } from "../../errors/parse.js";
import { type Json, json, jsonFields } from "../assertions/json-value.js";
import { channelQuery } from "../channels/schema.js";

/** How an asset's bytes are read. */
const ASSET_FORMS = ["text", "lines", "json"] as const;

export const scorerFields = {
  /** Name, version and profile, such as `gaia.question.v1/strict`. */
  scorer: z.string().min(1).max(128),
  /** The scorer's own fields. Anywhere in it a value may be `{from}`, `{asset}` or `{literal}`. */
  input: jsonFields,
};

const from = z.strictObject({
  from: channelQuery,
  /** What the scorer gets where there is nothing; unsaid: the node fails. */
  absent: json.optional(),
});
const asset = z.strictObject({ asset: z.string().min(1), as: z.enum(ASSET_FORMS).default("text") });
const literal = z.strictObject({ literal: json });

export type InputReference = z.output<typeof from> | z.output<typeof asset> | z.output<typeof literal>;

/** A value of the input that stands for another. */
export interface PlacedReference {
  path: (string | number)[];
  reference: InputReference;
}

/** The keys that make an object a reference, each with those that may stand beside it. */
const forms = [
  { key: "from", beside: ["absent"], schema: from },
  { key: "asset", beside: ["as"], schema: asset },
  { key: "literal", beside: [], schema: literal },
] as const;

/**
 * The references of an input, in its order. Throws `bad_task` for a malformed one.
 * @param root path of the input
 */
export function referencesOf(input: Json, root: (string | number)[] = []): PlacedReference[] {
  if (typeof input !== "object" || input === null) return [];
  if (!Array.isArray(input)) {
    const keys = Object.keys(input);
    const form = forms.find(
      ({ key, beside }) =>
        Object.hasOwn(input, key) &&
        keys.every((one) => one === key || (beside as readonly string[]).includes(one)),
    );
    if (form !== undefined)
      return [{ path: root, reference: parseOrThrow(form.schema, input, "bad_task", root) }];
  }
  return Object.entries(input).flatMap(([key, value]) =>
    referencesOf(value, [...root, Array.isArray(input) ? Number(key) : key]),
  );
}

/** The input with the values at these places; a place of a reference has one. */
export function filledIn(
  input: Json,
  places: ReadonlyMap<string, Json>,
  root: (string | number)[] = [],
): Json {
  const value = places.get(JSON.stringify(root));
  if (value !== undefined) return value;
  if (typeof input !== "object" || input === null) return input;
  if (Array.isArray(input)) return input.map((one, index) => filledIn(one, places, [...root, index]));
  return Object.fromEntries(
    Object.entries(input).map(([key, one]) => [key, filledIn(one, places, [...root, key])]),
  );
}
