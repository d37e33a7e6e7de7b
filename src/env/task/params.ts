/** Typed parameters of a task: declared with ranges or choices, drawn by a seed or given at reset. */
import { createHash } from "node:crypto";
import { z } from "zod";
import { nearest } from "../../errors/nearest.js";
import { record } from "../../errors/record.js";
import { ShinkenError } from "../../errors/index.js";

const name = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_]*$/, "must start with a lower-case letter and hold only a-z, 0-9, _");
const scalar = z.union([z.string(), z.number(), z.boolean()]);

const integerParam = z
  .strictObject({ type: z.literal("integer"), min: z.int(), max: z.int() })
  .refine((value) => value.min <= value.max, "min is greater than max");
const numberParam = z
  .strictObject({
    type: z.literal("number"),
    min: z.number(),
    max: z.number(),
    decimals: z.int().min(0).max(9),
  })
  .refine((value) => value.min <= value.max, "min is greater than max");
const stringParam = z.strictObject({ type: z.literal("string"), choices: z.array(z.string()).min(1) });
const booleanParam = z.strictObject({ type: z.literal("boolean") });
/** Values that belong together; `{param: person.city}` takes one field. */
const recordParam = z
  .strictObject({ type: z.literal("record"), choices: z.array(record(name, scalar)).min(1) })
  .refine(
    ({ choices }) =>
      new Set(
        choices.map((one) =>
          JSON.stringify(
            Object.entries(one)
              .map(([key, value]) => [key, typeof value])
              .sort(),
          ),
        ),
      ).size === 1,
    "all choices of a record have the same fields with the same types",
  );

export const paramSpec = z.discriminatedUnion("type", [
  integerParam,
  numberParam,
  stringParam,
  booleanParam,
  recordParam,
]);
export const paramSpecs = record(name, paramSpec);

export type ParamSpec = z.output<typeof paramSpec>;
export type ParamSpecs = z.output<typeof paramSpecs>;
export type ParamScalar = z.output<typeof scalar>;
export type ParamValue = ParamScalar | Record<string, ParamScalar>;
export type ParamValues = Record<string, ParamValue>;

/** A uniform integer in [0, bound) from a keyed stream; rejection keeps it unbiased. */
function uniform(seed: number, key: string, bound: bigint): bigint {
  const span = 1n << 64n;
  const limit = span - (span % bound);
  for (let attempt = 0; ; attempt++) {
    const digest = createHash("sha256").update(`shinken-param\0${seed}\0${key}\0${attempt}`).digest();
    const value = digest.readBigUInt64BE(0);
    if (value < limit) return value % bound;
  }
}

function pick<T>(seed: number, key: string, from: readonly T[]): T {
  return from[Number(uniform(seed, key, BigInt(from.length)))] as T;
}

function drawOne(key: string, spec: ParamSpec, seed: number): ParamValue {
  switch (spec.type) {
    case "integer":
      return Number(BigInt(spec.min) + uniform(seed, key, BigInt(spec.max) - BigInt(spec.min) + 1n));
    case "number": {
      const scale = 10 ** spec.decimals;
      const low = Math.ceil(spec.min * scale);
      const high = Math.max(low, Math.floor(spec.max * scale));
      return (low + Number(uniform(seed, key, BigInt(high - low) + 1n))) / scale;
    }
    case "string":
      return pick(seed, key, spec.choices);
    case "boolean":
      return pick(seed, key, [false, true]);
    case "record":
      return pick(seed, key, spec.choices);
  }
}

function accept(key: string, spec: ParamSpec, value: unknown): ParamValue {
  const refuse = (why: string): never => {
    throw new ShinkenError("bad_request", `params.${key}: ${why}`, { path: `params.${key}` });
  };
  switch (spec.type) {
    case "integer":
    case "number":
      if (typeof value !== "number" || !Number.isFinite(value)) return refuse(`must be a ${spec.type}`);
      if (spec.type === "integer" && !Number.isSafeInteger(value)) return refuse("must be an integer");
      if (value < spec.min || value > spec.max) return refuse(`must lie in [${spec.min}, ${spec.max}]`);
      return value;
    case "boolean":
      return typeof value === "boolean" ? value : refuse("must be true or false");
    case "string":
      if (typeof value !== "string") return refuse("must be a string");
      return spec.choices.includes(value) ? value : refuse(`must be one of ${spec.choices.join(", ")}`);
    case "record": {
      const wanted = canonical(value);
      return (
        spec.choices.find((one) => canonical(one) === wanted) ?? refuse("must be one of the task's choices")
      );
    }
  }
}

function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Values for all parameters: those given are checked against their declaration, the rest is drawn from the seed.
 * Each parameter draws from a stream of its own, so adding one changes no other. Rejects with `bad_request`.
 */
export function drawParams(
  specs: ParamSpecs,
  seed: number,
  given: Record<string, unknown> = {},
): ParamValues {
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(specs, key)) {
      const meant = nearest(key, Object.keys(specs));
      throw new ShinkenError("bad_request", `params.${key}: the task has no parameter of this name`, {
        path: `params.${key}`,
        suggestion: meant === undefined ? undefined : `did you mean "${meant}"?`,
      });
    }
  }
  const values: ParamValues = {};
  for (const [key, spec] of Object.entries(specs)) {
    values[key] = Object.hasOwn(given, key) ? accept(key, spec, given[key]) : drawOne(key, spec, seed);
  }
  return values;
}
