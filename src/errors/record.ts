import { z } from "zod";

/**
 * An object of like fields. zod's own record leaves the key `__proto__` out without a word; here it is refused by its name.
 * (Values of JSON, in which it is a name like any other, keep it: `verifiers/assertions/json-value.ts`.)
 */
export function record<Value extends z.ZodType>(key: z.ZodType<string, string>, value: Value) {
  return z.preprocess(refusePrototype, z.record(key, value)) as unknown as z.ZodType<
    Record<string, z.output<Value>>
  >;
}

function refusePrototype(value: unknown, context: z.core.$RefinementCtx): unknown {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__"))
    context.addIssue({ code: "custom", path: ["__proto__"], message: "cannot be the name of a field here" });
  return value;
}
