/** The evaluator of what the agent sent: one request among all that fits everything that is expected of it. */
import type { Json, JsonObject } from "../../verifiers/assertions/json-value.js";
import { compareValues } from "./compare.js";
import type { NetworkEvent } from "./har.js";
import { type Reading, typed, typedAs } from "./kinds.js";
import { objectOf, UnreadableExpectation } from "./normalise.js";
import { readPath, valueAt } from "./paths.js";
import type { Evaluated } from "./response.js";
import type { NetworkEvaluator } from "./task.js";
import { Fields, rawValue, type TypedValue, type Value } from "./value.js";
import { found } from "./values/patterns.js";
import { type Address, addressOf, type Query, sameBase } from "./values/urls.js";

interface Context {
  evaluator: NetworkEvaluator;
  readings: { expected: Reading; actual: Reading };
}

/** Addresses, one for each alternative; undefined where one cannot be read. */
function addresses(
  given: Json,
  { evaluator }: Context,
  reading: Reading,
  query?: ReadonlyMap<string, readonly string[]>,
): Address[] | undefined {
  const { query_params_schema: schema } = evaluator;
  if (Array.isArray(given) && given.length < 2) return undefined;
  const read = (Array.isArray(given) ? given : [given]).map((one) =>
    addressOf(one, {
      sites: reading.sites,
      strict: reading.strict,
      query,
      decodeBase64: evaluator.decode_base64_query,
      ignored: evaluator.ignored_query_params,
      ignoredPatterns: evaluator.ignored_query_params_patterns,
      typed: schema === undefined ? undefined : (values) => typedQuery(values, schema, reading),
    }),
  );
  return read.includes(undefined) ? undefined : (read as Address[]);
}

function typedQuery(
  query: ReadonlyMap<string, readonly string[]>,
  schema: NonNullable<NetworkEvaluator["query_params_schema"]>,
  reading: Reading,
): Query {
  const fields = objectOf(
    Object.fromEntries([...query].map(([name, values]) => [name, [...values]])),
    schema,
    reading,
  );
  return fields instanceof Fields
    ? new Map([...fields].map(([name, value]) => [name, Array.isArray(value) ? (value as Value[]) : [value]]))
    : new Map();
}

function expectedAddresses(given: Json, context: Context, query?: ReadonlyMap<string, string[]>): Address[] {
  const read = addresses(given, context, context.readings.expected, query);
  if (read === undefined) {
    throw new UnreadableExpectation(
      `the task's address ${JSON.stringify(given)} cannot be read, or its site has no address here`,
    );
  }
  return read;
}

const url = (read: readonly Address[]): TypedValue => typedAs("url", read);

/** Events of the expected method and address; for pages that are to be shown only the last page that was opened. */
function candidates(events: readonly NetworkEvent[], navigates: boolean, context: Context): NetworkEvent[] {
  const { expected } = context.evaluator;
  if (navigates && expected.http_method === "GET") {
    const last = events.findLast((event) => event.isNavigation);
    return last === undefined ? [] : [last];
  }
  const wanted = expectedAddresses(expected.url, context);
  const from = expected.headers?.referer;
  const referers = from === undefined ? undefined : expectedAddresses(from, context);
  const at = (places: readonly Address[], given: string): boolean => {
    const read = addresses(given, context, context.readings.actual);
    if (read === undefined) throw new UnreadableExpectation(`the address ${given} cannot be read`);
    return places.some((one) => read.some((other) => sameBase(one, other, context.readings.expected)));
  };
  return events.filter((event) => {
    if (event.method.toLowerCase() !== expected.http_method.toLowerCase() || !at(wanted, event.url))
      return false;
    const referer = event.header("referer")?.toLowerCase();
    return referers === undefined || referer === undefined || referer === "" || at(referers, referer);
  });
}

/** Header values: addresses for those that hold one, text for the others. */
function headersOf(given: JsonObject, context: Context, reading: Reading): Fields {
  const fields = new Fields();
  for (const [name, value] of Object.entries(given)) {
    if ((name === "referer" || name === "redirect_url") && value !== "" && value !== null) {
      const read = reading.strict ? expectedAddresses(value, context) : addresses(value, context, reading);
      fields.set(name, read === undefined ? rawValue(value) : url(read));
    } else fields.set(name, typed("string", value, reading) ?? rawValue(value));
  }
  return fields;
}

function postedOf(given: JsonObject | null | undefined, context: Context, reading: Reading): Value {
  const { ignored_post_data_params_patterns: ignored, post_data_schema: schema } = context.evaluator;
  const kept = Object.entries(given ?? {}).filter(
    ([name]) => ignored?.some((pattern) => found(pattern, name, false)) !== true,
  );
  return kept.length === 0 ? null : objectOf(Object.fromEntries(kept), schema ?? { type: "object" }, reading);
}

/** The named fields of sent or received data, by their paths. */
function picked(data: JsonObject, names: readonly string[], absent: "null" | "left out"): JsonObject {
  const fields: [string, Json][] = [];
  for (const given of names) {
    const name = given.trim();
    const path = readPath(name);
    if (path === undefined) continue;
    if (absent === "left out" && "name" in path && !Object.hasOwn(data, path.name)) continue;
    fields.push([name, valueAt(data, path)]);
  }
  return Object.fromEntries(fields);
}

function cookiesOf(given: JsonObject | null | undefined, reading: Reading): Value {
  const entries = Object.entries(given ?? {});
  if (entries.length === 0) return null;
  return new Fields(
    entries.map(([name, value]) => [name, typed("string", value, reading) ?? rawValue(value)]),
  );
}

function expectedEvent(context: Context): Fields {
  const { expected } = context.evaluator;
  const reading = context.readings.expected;
  const query = expected.query_params;
  const fields = new Fields([
    [
      "url",
      url(
        expectedAddresses(expected.url, context, query == null ? undefined : new Map(Object.entries(query))),
      ),
    ],
    ["response_status", expected.response_status],
    ["http_method", expected.http_method],
    ["post_data", postedOf(expected.post_data, context, reading)],
    [
      "response_content",
      isNone(expected.response_content) ? null : rawValue(expected.response_content ?? null),
    ],
    ["response_cookies", cookiesOf(expected.response_cookies, reading)],
  ]);
  if (expected.headers != null) fields.set("headers", headersOf(expected.headers, context, reading));
  return fields;
}

const isNone = (fields: JsonObject | null | undefined): boolean => Object.keys(fields ?? {}).length === 0;

function actualEvent(event: NetworkEvent, context: Context): Fields {
  const { expected } = context.evaluator;
  const reading = context.readings.actual;
  const read = addresses(event.url, context, reading);
  const fields = new Fields([
    ["url", read === undefined ? event.url : url(read)],
    ["response_status", event.status],
    ["http_method", event.method],
    ["post_data", null],
    ["response_content", null],
    ["response_cookies", null],
  ]);
  if (!isNone(expected.headers)) {
    const present = Object.keys(expected.headers ?? {}).flatMap((name): [string, Json][] => {
      const value = event.header(name);
      return value === undefined ? [] : [[name, value]];
    });
    if (present.length > 0) fields.set("headers", headersOf(Object.fromEntries(present), context, reading));
  }
  const { posted, received, cookies } = event;
  if (!isNone(expected.post_data) && posted !== undefined && !isNone(posted)) {
    const ignored = context.evaluator.ignored_post_data_params_patterns;
    const kept = Object.fromEntries(
      Object.entries(posted).filter(([name]) => ignored?.some((one) => found(one, name, false)) !== true),
    );
    const names = Object.keys(expected.post_data ?? {}).filter(
      (name) => ignored?.some((one) => found(one, name, false)) !== true,
    );
    const sent = picked(kept, names, "null");
    fields.set(
      "post_data",
      isNone(sent)
        ? new Fields()
        : objectOf(sent, context.evaluator.post_data_schema ?? { type: "object" }, reading),
    );
  }
  if (!isNone(expected.response_content) && received !== undefined && !isNone(received)) {
    fields.set(
      "response_content",
      rawValue(picked(received, Object.keys(expected.response_content ?? {}), "left out")),
    );
  }
  if (!isNone(expected.response_cookies)) {
    const names = Object.keys(expected.response_cookies ?? {}).filter((name) => Object.hasOwn(cookies, name));
    fields.set("response_cookies", cookiesOf(picked(cookies, names, "left out"), reading));
  }
  return fields;
}

export function evaluateEvents(
  evaluator: NetworkEvaluator,
  events: readonly NetworkEvent[],
  navigates: boolean,
  readings: Context["readings"],
): Evaluated {
  const context = { evaluator, readings };
  const fitting = candidates(events, navigates, context);
  const chosen = evaluator.last_event_only ? fitting.slice(-1) : fitting;
  const expected = expectedEvent(context);
  const actual = chosen.map((event) => actualEvent(event, context));
  if (evaluator.should_not_exist) {
    const assertions =
      actual.length === 0
        ? []
        : [
            {
              name: "unexpected_navigation_event",
              message: `${actual.length} requests are there that must not be`,
            },
          ];
    return { assertions, expected, actual };
  }
  const differences = actual.map((one) =>
    compareValues(expected, one, "network_event", { reading: readings.expected, extraFields: true }),
  );
  if (differences.some((one) => one.length === 0)) return { assertions: [], expected, actual };
  const first = differences.at(-1)?.map(({ message, name }) => `${name}: ${message}`) ?? [];
  return {
    assertions: [
      {
        name: "missing_navigation_event",
        message: [`none of ${actual.length} requests fits all that is expected`, ...first].join("; "),
      },
    ],
    expected,
    actual,
  };
}
