/** The evaluator of what the agent says: task type, status and retrieved data. */
import { isJsonObject, type Json, type JsonObject } from "../../verifiers/assertions/json-value.js";
import { strip } from "../python/text.js";
import { type Assertion, compareValues } from "./compare.js";
import { type Reading, typed } from "./kinds.js";
import { listOf, UnreadableExpectation } from "./normalise.js";
import type { ResponseEvaluator } from "./task.js";
import { Fields, rawValue, type Value } from "./value.js";

export interface Evaluated {
  assertions: Assertion[];
  expected: Value;
  actual: Value;
}

const block = /```(?:json)?\s*\n?(.*?)\n?```/s;

/** The agent's answer: JSON, also inside a code block; what is no JSON stays text. Nothing at all is null. */
export function readResponse(text: string): Json {
  const inside = block.exec(text)?.[1];
  const bare = strip(inside ?? text);
  if (bare === "") return null;
  try {
    const value = JSON.parse(bare) as Json;
    const empty =
      value === 0 ||
      value === false ||
      (typeof value === "object" && value !== null && Object.keys(value).length === 0);
    return value === "" || empty ? null : value;
  } catch {
    return bare;
  }
}

const word = (text: string, reading: Reading): Value => typed("string", text, reading) ?? null;

export function evaluateResponse(
  { expected, results_schema, ordered }: ResponseEvaluator,
  response: Json,
  readings: { expected: Reading; actual: Reading },
): Evaluated {
  const retrieves = expected.task_type === "RETRIEVE";
  const wanted = new Fields([
    ["task_type", word(expected.task_type, readings.expected)],
    ["status", word(expected.status, readings.expected)],
    ["retrieved_data", dataOf(expected.retrieved_data ?? null, results_schema, readings.expected)],
  ]);
  const actual = isJsonObject(response)
    ? fieldsOf(response, expected, retrieves, results_schema, readings.actual)
    : rawValue(response);
  const reading = readings.expected;
  const assertions = compareValues(wanted, actual, "agent_response", {
    reading,
    uncompared: new Set(["retrieved_data"]),
  });
  if (actual instanceof Fields && retrieves && actual.size > 0) {
    const data = wanted.get("retrieved_data") ?? null;
    const got = actual.get("retrieved_data") ?? null;
    if (data === null && got !== null) {
      assertions.push({ name: "retrieved_data_unexpected", message: "no data were expected" });
    }
    if (data !== null && got === null) {
      assertions.push({
        name: "retrieved_data_missing_or_null",
        message: "data were expected, and there are none",
      });
    }
    if (data !== null && got !== null) {
      assertions.push(...compareValues(data, got, "retrieved_data", { reading, ordered }));
    }
  }
  return { assertions, expected: wanted, actual };
}

/** Nothing, an empty text, list or object are no data; 0 and false are. */
function dataOf(data: Json, schema: ResponseEvaluator["results_schema"], reading: Reading): Value {
  const none = data === null || data === "" || (typeof data === "object" && Object.keys(data).length === 0);
  return none ? null : listOf(Array.isArray(data) ? data : [data], schema, reading);
}

function fieldsOf(
  response: JsonObject,
  expected: ResponseEvaluator["expected"],
  retrieves: boolean,
  schema: ResponseEvaluator["results_schema"],
  reading: Reading,
): Fields {
  const fields = new Fields();
  for (const name of ["task_type", "status"] as const) {
    const old = name === "task_type" && Object.hasOwn(response, "performed_operation");
    const key = Object.hasOwn(response, name) ? name : old ? "performed_operation" : undefined;
    if (key === undefined) continue;
    const said = response[key] ?? null;
    if (typeof said !== "string") {
      // Published, this ends the evaluator with an exception; a strict reading takes it as a wrong answer.
      if (!reading.careful) throw new UnreadableExpectation(`${key} of the agent's response is no text`);
      fields.set(name, rawValue(said));
      continue;
    }
    fields.set(name, strip(said) === "" ? null : word(strip(said), reading));
  }
  // Published, a task that says nothing about data fails every answer: the field is then missing.
  if (Object.hasOwn(expected, "retrieved_data") || reading.careful) {
    const data = retrieves ? dataOf(response.retrieved_data ?? null, schema, reading) : null;
    fields.set("retrieved_data", Array.isArray(data) && data.length === 0 ? null : data);
  }
  return fields;
}
