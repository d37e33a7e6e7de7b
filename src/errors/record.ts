import { z } from "zod";

/**
 * An object of like fields. zod's own record leaves the key `__proto__` out without a word; here it is refused by its name.
 * (Values of JSON, in which it is a name like any other, keep it: `verifiers/assertions/json-value.ts`.)
 */
export function record<Value extends z.ZodType>(key: z.ZodType<string, string>, value: Value) {
  return refusingPrototype<Record<string, z.output<Value>>>(z.record(key, value));
}

/** A schema of an object with fields that it does not know, likewise: zod's loose objects leave the same key out. */
export function refusingPrototype<Output>(schema: z.ZodType<Output>): z.ZodType<Output> {
  return z.preprocess(refusePrototype, schema);
}

function refusePrototype(value: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__"))
    context.addIssue({ code: "custom", path: ["__proto__"], message: "cannot be the name of a field here" });
  return value;
}
