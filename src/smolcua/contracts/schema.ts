/** Response contracts: what the form of an answer is, as data. `docs/smolcua/contract.schema.json` is made from this file. */
import { z } from "zod";

/** Options of a question, and thus letters that an answer may have. */
export const optionsAtMost = 26;
/** Rows, columns, lines, fields of one contract. */
export const partsAtMost = 64;
const text = z.string().max(4_096);
/** What becomes a line of an answer, or stands in one. */
const inline = text.min(1).regex(/^[^\r\n]*$/, "must be on one line");
const names = z.array(inline).min(1).max(partsAtMost);

/** One capital letter. */
const letter = z.strictObject({
  kind: z.literal("letter"),
  letters: z
    .string()
    .regex(/^[A-Z]+$/, "must be capital letters, as ABCD")
    .max(optionsAtMost)
    .describe("The letters that an answer may be."),
});

/** The text of one option, to the code point. */
const choice = z.strictObject({
  kind: z.literal("choice"),
  options: z.array(text.min(1)).min(2).max(optionsAtMost),
});

/** A text, to the code point. */
const literal = z.strictObject({ kind: z.literal("literal") });

/** A text between two marks; nothing in it is escaped. */
const quoted = z.strictObject({
  kind: z.literal("quoted"),
  open: inline.max(16),
  close: inline.max(16),
});

/** One JSON document (RFC 8259) without duplicate keys. */
const json = z.strictObject({
  kind: z.literal("json"),
  type: z.enum(["object", "array"]),
  keys: names.optional().describe("Of an object: all its keys; their order is free."),
  length: z.int().min(0).max(1_024).optional().describe("Of an array."),
});

/** Rows of cells, parted by one line feed and one tab. */
const tsv = z.strictObject({
  kind: z.literal("tsv"),
  rows: z.int().min(1).max(partsAtMost),
  columns: z.int().min(1).max(partsAtMost),
});

/** Lines of a name, a separator and a value, in the order of the names. */
const pairs = z.strictObject({ kind: z.literal("pairs"), names, separator: inline.max(8) });

/** So many lines, each to the code point. */
const lines = z.strictObject({ kind: z.literal("lines"), count: z.int().min(1).max(partsAtMost) });

/** Lines that begin with a mark; `{n}` in the mark is the line's number, from 1. */
const list = z.strictObject({
  kind: z.literal("list"),
  mark: inline.max(16),
  count: z.int().min(1).max(partsAtMost),
});

/** Whole numbers in the places that a template names, as `({x}, {y})`: no plus sign, no leading zeros, no `-0`. */
const coordinates = z.strictObject({
  kind: z.literal("coordinates"),
  template: inline.max(256).refine((value) => {
    const found = placeNames(value);
    return found.length > 0 && found.length <= 16 && new Set(found).size === found.length;
  }, "must name between 1 and 16 places, each once, as ({x}, {y})"),
  tolerance: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe("By how much each number may be off; 0 if unsaid."),
});

export const contractSchema = z.discriminatedUnion("kind", [
  letter,
  choice,
  literal,
  quoted,
  json,
  tsv,
  pairs,
  lines,
  list,
  coordinates,
]);

export type Contract = z.output<typeof contractSchema>;
export type ContractOf<Kind extends Contract["kind"]> = Extract<Contract, { kind: Kind }>;

/** The contracts as JSON Schema, for authors in other languages; what a template must name it cannot say. */
export function contractJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(contractSchema, { io: "input" });
}

const cells = z.array(z.array(z.string()));

/** What the key of each kind of contract is. */
export const keySchemas = {
  letter: z.string(),
  choice: z.string(),
  literal: z.string(),
  quoted: z.string(),
  // A Map is what `readJson` gives.
  json: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.instanceof(Map)]),
  tsv: cells,
  pairs: z.record(z.string(), z.string()),
  lines: z.array(z.string()),
  list: z.array(z.string()),
  coordinates: z.record(z.string(), z.int().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER)),
} as const satisfies Record<Contract["kind"], z.ZodType>;

export type KeyOf<Kind extends Contract["kind"]> = z.output<(typeof keySchemas)[Kind]>;

/** The places of a coordinate template, in order. */
export function placeNames(template: string): string[] {
  return [...template.matchAll(/\{([a-z][a-z0-9_]*)\}/g)].map((match) => match[1] ?? "");
}
