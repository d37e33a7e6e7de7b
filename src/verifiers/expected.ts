/** Fetching expected values: literals, grading assets and second queries become plain data of the type wanted. */
import type { GroundAssertion } from "./assertions/ground.js";
import type { Assertion, Json } from "./assertions/schema.js";
import { splitLines } from "./assertions/text.js";
import { sha256 } from "./canonical.js";
import type { ChannelQuery } from "./channels/schema.js";
import { parseJson } from "./parse/json.js";
import { decodeText, parseNumber } from "./parse/text.js";
import { parseInPool } from "./pool.js";
import { type Answer, type Cell, ContentFault, type Picture, type Value } from "./value.js";

export interface ExpectedSources {
  readAsset(path: string): Promise<Uint8Array>;
  read(query: ChannelQuery): Promise<Answer>;
  /** Aborts when the check is given up. */
  signal: AbortSignal;
}

type Wanted = Value["type"];

/** What an expected value is fetched as, by the assertion's type and field. */
function wantedType(type: Assertion["type"], field: string): Wanted {
  if (field === "lines") return "list";
  if (field === "sha256") return "text";
  if (type === "quantity") return "number";
  if (type === "date") return "text";
  return type === "set" ? "list" : type;
}

/** Fields that may name their value by reference. */
const FIELDS = ["equals", "after", "before", "subset", "lines", "rows", "sha256", "similar"] as const;

/** Replaces every expected value that is a reference. Rejects with `ContentFault` where it is missing or of the wrong type. */
export async function ground(assertion: Assertion, sources: ExpectedSources): Promise<GroundAssertion> {
  const out: Record<string, unknown> = { ...assertion };
  for (const field of FIELDS) {
    const value = out[field];
    if (value === undefined) continue;
    const wanted = wantedType(assertion.type, field);
    out[field] = await fetchValue(value, wanted, field, sources);
    if (assertion.type === "date" && isRelative(value))
      out[field] = { ...value, reference: await fetchValue(value.reference, wanted, field, sources) };
    // JSON values keep a wrapper: an expected null must not look like no demand.
    if (assertion.type === "json") out[field] = { value: out[field] };
  }
  return out as unknown as GroundAssertion;
}

function isRelative(value: unknown): value is { reference: unknown } {
  return typeof value === "object" && value !== null && "reference" in value;
}

async function fetchValue(
  value: unknown,
  wanted: Wanted,
  field: string,
  sources: ExpectedSources,
): Promise<unknown> {
  const reference = referenceOf(value);
  if (reference === undefined) return value;
  if ("literal" in reference) return reference.literal;
  if ("base64" in reference) return new Uint8Array(Buffer.from(reference.base64, "base64"));
  if ("asset" in reference) {
    const bytes = await sources.readAsset(reference.asset);
    if (field === "sha256") return sha256(bytes);
    return wanted === "image"
      ? pictureOf(bytes, reference.asset, sources.signal)
      : fromAsset(bytes, wanted, reference.asset);
  }
  const answer = await sources.read(reference.from);
  if ("absent" in answer) throw new ContentFault(`the expected value is missing: ${answer.absent}`);
  if (answer.type !== wanted) throw new ContentFault(`the expected value is ${answer.type}, not ${wanted}`);
  return answer.type === "table" ? answer.rows : answer.value;
}

type Reference = { asset: string } | { from: ChannelQuery } | { literal: Json } | { base64: string };

/** A value that stands for another: an object with one key of these. A literal with more keys is a literal. */
export function referenceOf(value: unknown): Reference | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const keys = Object.keys(value);
  const known = keys.length === 1 && ["asset", "from", "literal", "base64"].includes(keys[0] ?? "");
  return known ? (value as Reference) : undefined;
}

/** A gold file's bytes as a value. A fault here is the task's own, and still never a score. */
function fromAsset(bytes: Uint8Array, wanted: Exclude<Wanted, "image">, name: string): unknown {
  const what = `the asset ${name}`;
  switch (wanted) {
    case "bytes":
      return bytes;
    case "text":
      return decodeText(bytes, what);
    case "number":
      return parseNumber(decodeText(bytes, what), what);
    case "json":
      return parseJson(decodeText(bytes, what), what);
    case "list":
      return splitLines(decodeText(bytes, what));
    case "table":
      return assetRows(parseJson(decodeText(bytes, what), what), what);
    case "file":
      throw new ContentFault(`${what} cannot stand for a file's properties`);
  }
}

/** A gold picture, decoded where the agent's is. */
async function pictureOf(bytes: Uint8Array, name: string, signal: AbortSignal): Promise<Picture> {
  const query = { channel: "image", query: { kind: "image", path: "/" } } as const;
  const answer = await parseInPool(bytes, query, `the asset ${name}`, signal);
  if ("absent" in answer || answer.type !== "image") throw new Error("a decoded picture is no picture");
  return answer.value;
}

function assetRows(value: Json, what: string): Cell[][] {
  const isCell = (cell: Json): cell is string | number | null =>
    cell === null || typeof cell === "string" || typeof cell === "number";
  if (!Array.isArray(value) || !value.every((row) => Array.isArray(row) && row.every(isCell))) {
    throw new ContentFault(`${what} is not a list of rows of texts, numbers and nulls`);
  }
  return value;
}
