/** Query, assertion and expected value fit each other, and the check can both pass and fail. */
import { expectedPlaces } from "../assertions/expected-schema.js";
import type { Assertion, AssertionType } from "../assertions/schema.js";
import { canonicalJson } from "../canonical.js";
import type { ResultType } from "../channels/describe.js";
import { type ChannelQuery, channelNames, resultType } from "../channels/schema.js";
import type { CheckNode } from "../schema.js";
import { proveAsset, proveQuery } from "./channels.js";
import { proveColumns } from "./columns.js";
import { proveConsistent } from "./contradiction.js";
import { fault, type Path, type ProofContext } from "./fault.js";
import { proveListedPaths } from "./paths.js";

const fits: Record<ResultType, readonly AssertionType[]> = {
  text: ["text", "quantity", "date"],
  number: ["number"],
  json: ["json"],
  table: ["table"],
  file: ["file"],
  list: ["list", "set"],
  bytes: ["bytes"],
  image: ["image"],
};

/** Separators by which foreign graders smuggle alternatives into a string; here they would never match. */
const FOREIGN_MARKERS = [" |OR| ", " |AND| "];

/** Proves a check. Throws `bad_task`. */
export function proveCheck(check: CheckNode, path: Path, context: Partial<ProofContext>): void {
  const channels = context.channels ?? channelNames;
  const query = { channel: check.channel, query: check.query } as ChannelQuery;
  proveQuery(query, path, channels, context);
  const type = resultType(query);
  if (!fits[type].includes(check.assert.type)) {
    throw fault(
      [...path, "assert", "type"],
      `a ${check.channel} query of kind "${check.query.kind}" returns ${type}, which "${check.assert.type}" does not judge`,
      `use "${fits[type].join('" or "')}"`,
    );
  }
  proveAssertion(check, type, path, channels, context);
  proveListedPaths(check, path);
  proveColumns(check, path);
  refuseMarkers(check.assert, [...path, "assert"]);
}

function proveAssertion(
  check: CheckNode,
  type: ResultType,
  path: Path,
  channels: readonly string[],
  context: Partial<ProofContext>,
): void {
  if (check.assert.type === "text" && check.assert.matches !== undefined)
    provePatterns(check.assert.matches, [...path, "assert", "matches"]);
  for (const { key, path: place, value } of expectedPlaces(check.assert)) {
    const at = [...path, "assert", ...place];
    if (typeof value !== "object" || value === null || Array.isArray(value)) continue;
    const keys = Object.keys(value);
    if (keys.length !== 1) continue;
    if (keys[0] === "asset") proveAsset((value as { asset: string }).asset, [...at, "asset"], context);
    if (keys[0] !== "from") continue;
    const from = (value as { from: ChannelQuery }).from;
    proveQuery(from, [...at, "from"], channels, context);
    proveExpectedType(from, wantedFor(check.assert.type, key, type), [...at, "from"]);
    proveDifferentSource({ channel: check.channel, query: check.query } as ChannelQuery, from, [
      ...at,
      "from",
    ]);
  }
  proveConsistent(check.assert, [...path, "assert"]);
  proveRanges(check.assert, [...path, "assert"]);
}

/** The type that an expected value must have, by the assertion's field. */
function wantedFor(assertion: AssertionType, key: string, result: ResultType): ResultType {
  if (key === "lines") return "list";
  if (key === "sha256") return "text";
  return assertion === "quantity" ? "number" : result;
}

function proveExpectedType(from: ChannelQuery, wanted: ResultType, path: Path): void {
  const type = resultType(from);
  if (type !== wanted) throw fault(path, `the expected value is ${type}, but ${wanted} is needed`);
}

/** A value compared with itself always agrees: such a check can never fail. */
function proveDifferentSource(result: ChannelQuery, from: ChannelQuery, path: Path): void {
  const fileOf = (query: ChannelQuery): string | undefined =>
    "path" in query.query ? query.query.path : undefined;
  const same = canonicalJson(result) === canonicalJson(from);
  const file = fileOf(result);
  if (same || (file !== undefined && normalPath(file) === normalPath(fileOf(from) ?? ""))) {
    throw fault(path, "result and expected value come from the same file; the check could hardly fail");
  }
}

function normalPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function provePatterns(value: unknown, path: Path): void {
  const list = Array.isArray(value) ? value : [value];
  list.forEach((one: string | { pattern: string; flags: string }, index) => {
    const at = Array.isArray(value) ? [...path, index] : path;
    try {
      if (typeof one === "string") new RegExp(one, "u");
      else new RegExp(one.pattern, `u${one.flags}`);
    } catch (error) {
      throw fault(at, error instanceof Error ? error.message : "not a regular expression");
    }
  });
}

/** A range that nothing lies in is a check that can never pass. */
function proveRanges(assertion: Assertion, path: Path): void {
  const ranges: [Path, { min?: number | undefined; max?: number | undefined }][] = [];
  if (assertion.type === "number" || assertion.type === "quantity") {
    ranges.push([path, { min: assertion.min ?? assertion.above, max: assertion.max ?? assertion.below }]);
  }
  if (assertion.type === "table") {
    assertion.cells?.forEach((cell, index) => {
      const at = [...path, "cells", index];
      if (cell.equals === undefined && cell.min === undefined && cell.max === undefined) {
        throw fault(at, "needs equals, min or max");
      }
      ranges.push([at, cell]);
    });
  }
  const sized = assertion as Partial<Record<"size" | "length" | "row_count" | "width" | "height", unknown>>;
  for (const key of ["size", "length", "row_count", "width", "height"] as const) {
    const range = sized[key];
    if (typeof range !== "object" || range === null) continue;
    if (Object.values(range).every((one) => one === undefined))
      throw fault([...path, key], "needs equals, min or max");
    ranges.push([[...path, key], range]);
  }
  for (const [at, { min, max }] of ranges) {
    if (min !== undefined && max !== undefined && min > max)
      throw fault(at, "the range is empty: min is greater than max");
  }
}

function refuseMarkers(value: unknown, path: Path): void {
  if (typeof value === "string") {
    const marker = FOREIGN_MARKERS.find((one) => value.includes(one));
    if (marker === undefined) return;
    throw fault(
      path,
      `"${marker}" is a marker of a foreign format and would be compared as text`,
      "use any or one_of",
    );
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, field] of Object.entries(value)) {
    refuseMarkers(field, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}
