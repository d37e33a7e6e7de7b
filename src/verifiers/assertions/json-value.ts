/** Values of JSON, as they stand. */
import { z } from "zod";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** True for an object of JSON, false for a list and for null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Path = (string | number)[];

/** Where a value holds what JSON cannot, or undefined where it is all JSON. */
function strangerIn(value: unknown, path: Path): Path | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : path;
  if (typeof value !== "object") return path;
  const list = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!list && prototype !== Object.prototype && prototype !== null) return path;
  for (const [key, item] of Object.entries(value)) {
    const found = strangerIn(item, [...path, list ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

const demandJson = (value: unknown, context: z.core.$RefinementCtx): void => {
  const path = strangerIn(value, []);
  if (path !== undefined) context.addIssue({ code: "custom", message: "expected a value of JSON", path });
};

/** JSON as it stands: zod's own schema rebuilds objects and thereby loses the key `__proto__`, a name like any other. */
export const json = z.unknown().superRefine(demandJson) as unknown as z.ZodType<Json>;

const fields = z.unknown().superRefine((value, context) => {
  if (isJsonObject(value)) demandJson(value, context);
  else context.addIssue({ code: "custom", message: "expected an object", path: [] });
});

/** An object of JSON, likewise as it stands: `z.record` would lose the same key. */
export const jsonFields = fields.meta({ type: "object" }) as unknown as z.ZodType<Record<string, Json>>;
