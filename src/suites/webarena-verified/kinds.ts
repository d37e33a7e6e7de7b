/** The types that the task set names, each with its reading and its equality. */
import { compareDecimals, type Decimal, decimalToNumber, distanceOf as decimalDistance } from "../decimal.js";
import type { Json } from "../../verifiers/assertions/json-value.js";
import { pythonText } from "../python/values.js";
import { collapseSpace, lower, strip } from "../python/text.js";
import type { Sites } from "./sites.js";
import { shownValue, TypedValue, type Value } from "./value.js";
import { dayOf, monthOf } from "./values/dates.js";
import { markdownOf } from "./values/markdown.js";
import {
  distanceOf,
  durationOf,
  likeness,
  placeOf,
  type Place,
  sameDistance,
  sameDuration,
  samePlace,
} from "./values/measures.js";
import { numberOf, priceOf, truthOf } from "./values/numbers.js";
import { matches } from "./values/patterns.js";
import { type Derender, isPattern, plainText, withoutEdges } from "./values/text.js";
import { type Address, addressOf, type Query, sameBase } from "./values/urls.js";

/** What a value is read with. */
export interface Reading {
  sites: Sites;
  /** The expected side: there what cannot be read is a fault of the task. */
  strict: boolean;
  /** The strict profile: patterns are the task's alone, and a comma before three digits groups thousands. */
  careful: boolean;
}

interface Kind<T> {
  read: (value: Json, reading: Reading) => T | undefined;
  same: (expected: T, actual: T, reading: Reading) => boolean;
  shown: (value: T) => Json;
  /** Text that its reader wants as it is. */
  raw?: "stripped" | "empty";
  /** Only the first alternative of either side is compared, as published. */
  firstOnly?: boolean;
}

const kind = <T>(one: Kind<T>): Kind<unknown> => one as Kind<unknown>;

const derenderOf =
  ({ sites }: Reading): Derender =>
  (text) =>
    sites.derender(text) ?? text;

const equal = (a: unknown, b: unknown): boolean => a === b;
const asIs = (value: Json): Json => value;

const PRICE_TOLERANCE: Decimal = { digits: 1n, scale: 1 };
/** As many characters as two names are compared by likeness with. */
const MAX_NAME = 5000;

const kinds: Readonly<Record<string, Kind<unknown>>> = {
  string: kind<string>({
    read: (value) =>
      isEmpty(value)
        ? ""
        : typeof value === "string" && isPattern(value)
          ? strip(value)
          : strip(lower(pythonText(value))),
    same: sameText,
    shown: asIs,
  }),
  number: kind<number>({ read: numberOf, same: equal, shown: asIs }),
  integer: kind<number>({ read: numberOf, same: equal, shown: asIs }),
  boolean: kind<boolean>({ read: truthOf, same: equal, shown: asIs }),
  currency: kind<Decimal>({
    read: (value, { careful }) => priceOf(value, careful),
    same: (a, b) => compareDecimals(decimalDistance(a, b), PRICE_TOLERANCE) <= 0,
    shown: decimalToNumber,
    firstOnly: true,
  }),
  date: kind<string>({ read: dayOf, same: equal, shown: asIs }),
  month: kind<string>({ read: monthOf, same: equal, shown: asIs }),
  duration: kind<number>({ read: durationOf, same: sameDuration, shown: asIs }),
  distance: kind<number>({ read: distanceOf, same: sameDistance, shown: asIs }),
  coordinates: kind<Place>({
    read: placeOf,
    same: samePlace,
    shown: ({ latitude, longitude }) => ({ latitude, longitude }),
    firstOnly: true,
  }),
  "location-name": kind<string>({
    read: (value) => (value === null ? undefined : isEmpty(value) ? "" : strip(lower(pythonText(value)))),
    same: (a, b) =>
      a === "" || b === "" ? a === b : Math.max(a.length, b.length) <= MAX_NAME && likeness(a, b) >= 80,
    shown: asIs,
  }),
  url: kind<Address>({
    read: (value, { sites, strict }) => addressOf(value, { sites, strict }),
    same: (a, b, reading) => sameBase(a, b, reading) && sameQuery(a.query, b.query, reading),
    shown: ({ base }) => base,
    raw: "stripped",
  }),
  null: kind<null>({
    read: (value) => {
      const empty =
        value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
      return empty || (typeof value === "string" && /^(?:n\/a|na|nan|null|none)$/.test(value))
        ? null
        : undefined;
    },
    same: equal,
    shown: asIs,
    raw: "empty",
  }),
  json: kind<string>({
    read: (value) => (typeof value === "string" ? sortedJson(value) : undefined),
    same: equal,
    shown: asIs,
  }),
  string_list: kind<string>({
    read: (value) => {
      if (isEmpty(value)) return undefined;
      const items = pythonText(value)
        .split(",")
        .map(strip)
        .filter((item) => item !== "")
        .sort();
      return items.length === 0 ? undefined : items.join(",");
    },
    same: equal,
    shown: asIs,
  }),
  markdown: kind<string>({ read: markdownOf, same: equal, shown: asIs, raw: "stripped" }),
};

export const kindNames: readonly string[] = Object.keys(kinds);

/** What Python holds for false, but for numbers. */
const isEmpty = (value: Json): boolean =>
  value === null ||
  value === "" ||
  value === 0 ||
  value === false ||
  (typeof value === "object" && Object.keys(value).length === 0);

function prepared(value: Json, { raw }: Kind<unknown>, reading: Reading): Json {
  if (typeof value !== "string") return value;
  if (raw === "stripped") return strip(value);
  if (raw === "empty") return collapseSpace(lower(strip(value))).replace(/\s*\/\s*/g, "/");
  return plainText(value, derenderOf(reading));
}

/**
 * A value of a type; a list of two or more is alternatives, but for a pair of coordinates. Undefined where it cannot be read.
 */
export function typed(name: string, value: Json, reading: Reading): TypedValue | undefined {
  const found = kinds[name];
  if (found === undefined) return undefined;
  const isPair =
    name === "coordinates" &&
    Array.isArray(value) &&
    value.length === 2 &&
    value.every((one) => typeof one !== "object");
  const given = Array.isArray(value) && !isPair ? value : [value];
  if (Array.isArray(value) && !isPair && value.length < 2) return undefined;
  const read = given.map((one) => found.read(prepared(one, found, reading), reading));
  if (read.includes(undefined)) return undefined;
  return new TypedValue(name, read, found.shown(read[0]));
}

/** A typed value that was made elsewhere, e.g. an address with rules of its own. */
export const typedAs = (name: string, alternatives: readonly unknown[]): TypedValue =>
  new TypedValue(name, alternatives, kinds[name]?.shown(alternatives[0]) ?? null);

/** Whether any alternative of one is the same as any of the other. */
export function sameTyped(expected: TypedValue, actual: TypedValue, reading: Reading): boolean {
  const found = kinds[expected.kind];
  if (found === undefined || expected.kind !== actual.kind) return false;
  const of = (value: TypedValue): readonly unknown[] =>
    found.firstOnly === true && !reading.careful ? value.alternatives.slice(0, 1) : value.alternatives;
  return of(expected).some((one) => of(actual).some((other) => found.same(one, other, reading)));
}

/**
 * The same text, also without quotes and marks at its ends; or one that a pattern fits. Published, the pattern may come from
 * the agent: `^.*$` then answers everything.
 */
function sameText(expected: string, actual: string, { careful }: Reading): boolean {
  const fits = (pattern: string, text: string): boolean =>
    isPattern(pattern) && matches(pattern, text, { whole: true, ignoreCase: true }) === true;
  if (fits(expected, actual) || (!careful && fits(actual, expected))) return true;
  return expected === actual || withoutEdges(expected) === withoutEdges(actual);
}

/** One value against one, neither of them a list or fields. */
export function sameSingle(expected: Value, actual: Value, reading: Reading): boolean {
  if (expected instanceof TypedValue) {
    if (actual instanceof TypedValue) return sameTyped(expected, actual, reading);
    // Text that stayed as it was can still be compared with text.
    if (typeof actual !== "string" || expected.kind !== "string") return false;
    const read = typed("string", actual, reading);
    return read !== undefined && sameTyped(expected, read, reading);
  }
  return comparable(expected) === comparable(actual);
}

/** Python holds True for 1 and False for 0. */
const comparable = (value: Value): unknown => (typeof value === "boolean" ? Number(value) : value);

/** Queries by name, the first value of each; none, null and empty are the same. A pattern on the expected side is matched. */
function sameQuery(expected: Query, actual: Query, reading: Reading): boolean {
  const names = new Set([...expected.keys(), ...actual.keys()]);
  return [...names].every((name) => {
    const wanted = expected.get(name)?.[0] ?? "";
    const got = actual.get(name)?.[0] ?? "";
    const pattern = isPattern(plain(wanted)) ? plain(wanted) : undefined;
    if (pattern !== undefined) return matches(pattern, plain(got), { whole: false }) === true;
    if (wanted instanceof TypedValue || got instanceof TypedValue) {
      return sameSingle(
        wanted instanceof TypedValue ? wanted : got,
        wanted instanceof TypedValue ? got : wanted,
        reading,
      );
    }
    return wanted === got;
  });
}

const plain = (value: Value): string =>
  pythonText(value instanceof TypedValue ? value.shown : shownValue(value));

/** JSON with sorted names, so that texts can be compared. */
function sortedJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    );
  } catch {
    return undefined;
  }
}
