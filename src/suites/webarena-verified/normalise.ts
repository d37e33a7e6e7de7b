/** Makes values of JSON comparable by a schema of the task: what it asks to be read and cannot be, is a fault or stays as it is. */
import { isJsonObject, type Json } from "../../verifiers/assertions/json-value.js";
import { type Reading, typed } from "./kinds.js";
import type { ValueSchema } from "./task.js";
import { Fields, rawValue, type Value } from "./value.js";

/** A value of the task that cannot be read by the task's own schema. */
export class UnreadableExpectation extends Error {}

/** The value of a type; on the expected side it must be one. */
function single(value: Json, name: string, reading: Reading): Value {
  const read = typed(name, value, reading);
  if (read !== undefined) return read;
  if (reading.strict) {
    throw new UnreadableExpectation(`the task's own value ${JSON.stringify(value)} is no ${name}`);
  }
  return rawValue(value);
}

const typeName = (schema: ValueSchema | undefined): string => schema?.format ?? schema?.type ?? "string";

function parsed(value: Json): Json | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return undefined;
  }
}

/** A list by its schema; a lone value is a list of one, and text may hold a list as JSON. */
export function listOf(value: Json, schema: ValueSchema, reading: Reading): Value[] {
  if ((schema.type ?? "array") !== "array") {
    throw new UnreadableExpectation(`the schema is of ${schema.type ?? "nothing"}, and there is data`);
  }
  const inText = reading.strict ? undefined : parsed(value);
  const list = Array.isArray(inText) ? inText : value;
  const items = Array.isArray(list) ? list : [list];
  const { items: itemSchema } = schema;
  return items.map((item) =>
    itemSchema?.type === "object"
      ? objectOrList(item, itemSchema, reading)
      : single(item, typeName(itemSchema), reading),
  );
}

function objectOrList(value: Json, schema: ValueSchema, reading: Reading): Value {
  return Array.isArray(value)
    ? value.map((one) => objectOf(one, schema, reading))
    : objectOf(value, schema, reading);
}

/** Fields by their schemas; what has none is text, and what is null stays so. */
export function objectOf(value: Json, schema: ValueSchema, reading: Reading): Value {
  const inText = parsed(value);
  const given = isJsonObject(inText) ? inText : value;
  if (!isJsonObject(given)) {
    if (reading.strict)
      throw new UnreadableExpectation(`expected fields, the task has ${JSON.stringify(value)}`);
    return rawValue(given);
  }
  const fields = new Fields();
  for (const [name, held] of Object.entries(given)) {
    const own = schema.properties?.[name];
    fields.set(name, held === null ? null : fieldOf(held, own, reading));
  }
  return fields;
}

function fieldOf(value: Json, schema: ValueSchema | undefined, reading: Reading): Value {
  if (schema?.type === "object") return objectOf(value, schema, reading);
  if (schema?.type !== "array") return single(value, typeName(schema), reading);
  const inText = parsed(value);
  const list = Array.isArray(inText) ? inText : value;
  if (!Array.isArray(list)) {
    if (reading.strict)
      throw new UnreadableExpectation(`expected a list, the task has ${JSON.stringify(value)}`);
    return rawValue(value);
  }
  return list.map((item) =>
    schema.items?.type === "object"
      ? objectOrList(item, schema.items, reading)
      : single(item, typeName(schema.items), reading),
  );
}
