/** Shapes of JSON values. */
import { z } from "zod";
import { record } from "../../errors/record.js";
import { type Json, json } from "./json-value.js";

/** A small part of JSON Schema: enough to state a shape. Unknown keys of objects are allowed unless `closed`. */
export interface Shape {
  type?: "null" | "boolean" | "number" | "integer" | "string" | "array" | "object" | undefined;
  enum?: Json[] | undefined;
  min?: number | undefined;
  max?: number | undefined;
  min_items?: number | undefined;
  max_items?: number | undefined;
  items?: Shape | undefined;
  properties?: Record<string, Shape> | undefined;
  required?: string[] | undefined;
  closed?: boolean | undefined;
}
export const shape: z.ZodType<Shape> = z.lazy(() =>
  z.strictObject({
    type: z.enum(["null", "boolean", "number", "integer", "string", "array", "object"]).optional(),
    enum: z.array(json).min(1).optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    min_items: z.int().nonnegative().optional(),
    max_items: z.int().nonnegative().optional(),
    items: shape.optional(),
    properties: record(z.string(), shape).optional(),
    required: z.array(z.string()).optional(),
    closed: z.boolean().optional(),
  }),
);
