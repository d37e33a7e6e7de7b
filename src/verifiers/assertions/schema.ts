/**
 * The assertions, one for each type of result. Every field that is given must hold. An expected value is a literal,
 * a grading asset, or a second query; `{literal: ...}` keeps an object from being read as one of these.
 */
import { z } from "zod";
import { assetReference, atLeastOne, expected, expectedJson, otherQuery } from "./expected-schema.js";

import { dateAssertion } from "./date/schema.js";
import { type Shape, shape } from "./shape.js";
import { quantityAssertion } from "./quantity/schema.js";

export type { Shape };
export { type ExpectedJson, type Json, json } from "./expected-schema.js";

/** Named text normalisers; each is applied to both sides, in the order given. */
export const normaliserNames = [
  "trim",
  "collapse_whitespace",
  "strip_trailing_whitespace",
  "final_newline",
  "crlf",
  "lower",
  "casefold",
  "nfc",
  "nfkc",
  "strip_accents",
  "strip_punctuation",
  "straight_quotes",
  "plain_numbers",
] as const;
export type Normaliser = (typeof normaliserNames)[number];
const normalise = z.array(z.enum(normaliserNames)).default([]);

const oneOrMore = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
const patternFlags = z
  .string()
  .regex(/^[ims]*$/, "flags are any of i, m, s")
  .default("");
const pattern = z.union([
  z.string().min(1).max(10_000),
  z.strictObject({ pattern: z.string().min(1).max(10_000), flags: patternFlags }),
]);

const textRule = atLeastOne(["equals", "contains", "excludes", "matches", "one_of", "lines"]);
export const textAssertion = z
  .strictObject({
    type: z.literal("text"),
    equals: expected(z.string()).optional(),
    one_of: z.array(z.string()).min(1).optional(),
    contains: oneOrMore(z.string().min(1)).optional(),
    excludes: oneOrMore(z.string().min(1)).optional(),
    /** An ECMAScript regular expression with the `u` flag, searched anywhere. */
    matches: oneOrMore(pattern).optional(),
    /** The text's lines, exactly and in order. */
    lines: expected(z.array(z.string())).optional(),
    normalise,
    /** Score by the share of `contains` that hold instead of all or nothing. */
    partial: z.boolean().default(false),
  })
  .refine(textRule.check, textRule.message);

const numberRule = atLeastOne(["equals", "min", "max", "above", "below"]);
export const numberAssertion = z
  .strictObject({
    type: z.literal("number"),
    equals: expected(z.number()).optional(),
    /** Largest absolute difference from `equals`; it widens nothing else. */
    tolerance: z.number().nonnegative().default(0),
    /** Largest difference from `equals` as a share of it. */
    relative_tolerance: z.number().min(0).max(1).default(0),
    min: z.number().optional(),
    max: z.number().optional(),
    /** Strictly greater, strictly less. */
    above: z.number().optional(),
    below: z.number().optional(),
  })
  .refine(numberRule.check, numberRule.message);

const jsonRule = atLeastOne(["equals", "subset", "schema", "exists", "length"]);
export const jsonAssertion = z
  .strictObject({
    type: z.literal("json"),
    /** JSON Pointer (RFC 6901) of the value that the rest speaks of; the whole document if unsaid. */
    path: z
      .string()
      .regex(/^(\/.*)?$/s, "must be empty or start with /")
      .default(""),
    equals: expectedJson.optional(),
    /** Every key of the expected object is there with that value; arrays are compared whole. */
    subset: expectedJson.optional(),
    schema: shape.optional(),
    exists: z.boolean().optional(),
    length: z.int().nonnegative().optional(),
    /** Largest difference between two numbers that still counts as equal. */
    tolerance: z.number().nonnegative().default(0),
  })
  .refine(jsonRule.check, jsonRule.message);

const cell = z.union([z.string(), z.number(), z.null()]);
const tableRule = atLeastOne(["cells", "rows", "columns", "row_count"]);
export const tableAssertion = z
  .strictObject({
    type: z.literal("table"),
    columns: z.array(z.string()).optional(),
    row_count: z
      .strictObject({ min: z.int().optional(), max: z.int().optional(), equals: z.int().optional() })
      .optional(),
    /** Single cells: row from 0, column by name or number, and a value or a range. */
    cells: z
      .array(
        z.strictObject({
          row: z.int().nonnegative(),
          column: z.union([z.string(), z.int().nonnegative()]),
          equals: cell.optional(),
          min: z.number().optional(),
          max: z.number().optional(),
        }),
      )
      .min(1)
      .optional(),
    rows: expected(z.array(z.array(cell))).optional(),
    /** Columns whose values name a row: rows are paired by them, and `columns` says what the cells of `rows` are. */
    key: z.array(z.string()).min(1).optional(),
    normalise,
    /** `list`: the same rows in the same order; `set`: in any order, as often; `includes`: at least these. */
    as: z.enum(["list", "set", "includes"]).default("list"),
    tolerance: z.number().nonnegative().default(0),
    partial: z.boolean().default(false),
  })
  .refine(tableRule.check, tableRule.message);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");
const fileRule = atLeastOne(["exists", "absent", "kind", "sha256", "mode", "size", "uid", "target"]);
export const fileAssertion = z
  .strictObject({
    type: z.literal("file"),
    exists: z.literal(true).optional(),
    absent: z.literal(true).optional(),
    kind: z.enum(["file", "directory", "symlink", "fifo", "socket", "char", "block"]).optional(),
    sha256: expected(sha256).optional(),
    /** Permission bits as a string of octal digits, e.g. "0644". */
    mode: z
      .string()
      .regex(/^[0-7]{3,4}$/, 'must be octal digits in quotes, e.g. "0644"')
      .optional(),
    size: z
      .strictObject({ min: z.int().optional(), max: z.int().optional(), equals: z.int().optional() })
      .optional(),
    uid: z.int().nonnegative().optional(),
    target: z.string().optional(),
  })
  .refine(fileRule.check, fileRule.message)
  .refine(
    (value) =>
      value.absent !== true ||
      Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined).length === 2,
    "absent excludes every other demand",
  );

const item = z.union([z.string(), z.number()]);
const listRule = atLeastOne(["equals", "contains", "excludes", "length"]);
const listFields = {
  equals: expected(z.array(item)).optional(),
  contains: z.array(item).min(1).optional(),
  excludes: z.array(item).min(1).optional(),
  length: z
    .strictObject({ min: z.int().optional(), max: z.int().optional(), equals: z.int().optional() })
    .optional(),
  normalise,
  partial: z.boolean().default(false),
};
/** Order and multiplicity count. */
export const listAssertion = z
  .strictObject({ type: z.literal("list"), ...listFields })
  .refine(listRule.check, listRule.message);
/** Order does not count; `multiset` says whether multiplicity does (it does if unsaid). */
export const setAssertion = z
  .strictObject({ type: z.literal("set"), ...listFields, multiset: z.boolean().default(true) })
  .refine(listRule.check, listRule.message);

const bytesRule = atLeastOne(["equals", "sha256"]);
export const bytesAssertion = z
  .strictObject({
    type: z.literal("bytes"),
    equals: z.union([assetReference, otherQuery, z.strictObject({ base64: z.base64() })]).optional(),
    sha256: sha256.optional(),
  })
  .refine(bytesRule.check, bytesRule.message);

const side = z
  .strictObject({ min: z.int().optional(), max: z.int().optional(), equals: z.int().optional() })
  .optional();
const expectedPicture = z.union([assetReference, otherQuery]);
const imageRule = atLeastOne(["width", "height", "equals", "similar", "regions"]);
export const imageAssertion = z
  .strictObject({
    type: z.literal("image"),
    width: side,
    height: side,
    /** The same size, and every pixel the same, alpha included. */
    equals: expectedPicture.optional(),
    /** The picture that `min_ssim` and `max_hash_distance` speak of. */
    similar: expectedPicture.optional(),
    /** Least mean structural similarity of luma; another size has none. */
    min_ssim: z.number().min(-1).max(1).optional(),
    /** Most bits in which the perceptual hashes differ, of 64; sizes may differ. */
    max_hash_distance: z.int().min(0).max(64).optional(),
    /** Rectangles and their mean colour; no channel may be further off than `tolerance`. */
    regions: z
      .array(
        z.strictObject({
          x: z.int().nonnegative(),
          y: z.int().nonnegative(),
          width: z.int().positive(),
          height: z.int().positive(),
          colour: z.string().regex(/^#[0-9a-f]{6}$/, 'must be six lower-case hex digits, e.g. "#ff8000"'),
          tolerance: z.number().min(0).max(255).default(0),
        }),
      )
      .min(1)
      .optional(),
  })
  .refine(imageRule.check, imageRule.message)
  .refine(
    ({ similar, min_ssim: ssim, max_hash_distance: distance }) =>
      (similar !== undefined) === (ssim !== undefined || distance !== undefined),
    "similar goes with min_ssim, max_hash_distance or both",
  );

export const assertion = z.discriminatedUnion("type", [
  textAssertion,
  numberAssertion,
  jsonAssertion,
  tableAssertion,
  fileAssertion,
  listAssertion,
  setAssertion,
  bytesAssertion,
  imageAssertion,
  quantityAssertion,
  dateAssertion,
]);

export type TextAssertion = z.output<typeof textAssertion>;
export type NumberAssertion = z.output<typeof numberAssertion>;
export type JsonAssertion = z.output<typeof jsonAssertion>;
export type TableAssertion = z.output<typeof tableAssertion>;
export type FileAssertion = z.output<typeof fileAssertion>;
export type ListAssertion = z.output<typeof listAssertion>;
export type SetAssertion = z.output<typeof setAssertion>;
export type BytesAssertion = z.output<typeof bytesAssertion>;
export type ImageAssertion = z.output<typeof imageAssertion>;
export type Assertion = z.output<typeof assertion>;
export type AssertionType = Assertion["type"];
