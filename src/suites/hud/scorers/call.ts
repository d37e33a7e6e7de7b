/** HUD: a task's shorthand for a tool call, made into `{name, arguments}`. */
import { z } from "zod";
import { isJsonObject, type Json, type JsonObject, json } from "../../../verifiers/assertions/json-value.js";
import { defineScorer, given, type Outcome } from "../../scorer.js";

const holdsCall = (value: JsonObject): boolean =>
  Object.hasOwn(value, "name") && Object.hasOwn(value, "arguments");

/** The only field of an object, if it has just one. */
function only(value: JsonObject): [name: string, held: Json] | undefined {
  const [first, second] = Object.entries(value);
  return second === undefined ? first : undefined;
}

/** Published: an object that names a call, or one field that holds something with a name or with one object in it. */
function looksLikeCall(value: Json | undefined): value is JsonObject {
  if (!isJsonObject(value)) return false;
  if (holdsCall(value)) return true;
  const held = only(value)?.[1];
  if (!isJsonObject(held)) return false;
  return Object.hasOwn(held, "name") || isJsonObject(only(held)?.[1]);
}

function callOf(value: Json): Json {
  if (!isJsonObject(value)) return value;
  if (holdsCall(value)) {
    const inner = value.arguments ?? null;
    return { name: value.name ?? null, arguments: looksLikeCall(inner) ? callOf(inner) : inner };
  }
  const field = only(value);
  return field !== undefined && looksLikeCall(field[1])
    ? { name: field[0], arguments: callOf(field[1]) }
    : value;
}

const overItems = (value: Json, one: (item: Json) => Json): Json =>
  Array.isArray(value) ? value.map(one) : one(value);

/**
 * The documented shorthand, which was published to stay as it was: `{setup: {navigate: {url}}}` is setup(navigate(url)).
 * An object with one field is a call if its value is an object; the innermost one is the arguments.
 */
function strictCall(value: Json): Json {
  if (!isJsonObject(value)) return value;
  if (holdsCall(value)) {
    const inner = value.arguments ?? null;
    return {
      name: value.name ?? null,
      arguments: isJsonObject(inner) && (holdsCall(inner) || isShorthand(inner)) ? strictCall(inner) : inner,
    };
  }
  return isShorthand(value) ? shorthand(value) : value;
}

/** One field that holds an object: a name and what it is called with. */
const isShorthand = (value: JsonObject): boolean => isJsonObject(only(value)?.[1]);

function shorthand(value: JsonObject): Json {
  const [name, held] = only(value) ?? ["", null];
  return { name, arguments: strictCall(held) };
}

const score =
  (one: (item: Json) => Json) =>
  ({ call }: { call: Json }): Outcome<Json> =>
    given(overItems(call, one));

export const hudCall = defineScorer({
  name: "hud.call",
  version: 1,
  input: z.strictObject({ call: json }),
  score: { faithful: score(callOf), strict: score(strictCall) },
});
