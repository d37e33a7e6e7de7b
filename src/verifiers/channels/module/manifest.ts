/** A module of one application: a versioned folder with a program for the guest, its queries, and tests. See `docs/modules.md`. */
import { z } from "zod";
import { record } from "../../../errors/record.js";
import { type Shape, shape } from "../../assertions/shape.js";

export const moduleName = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_-]*$/, "must start with a lower-case letter and hold only a-z, 0-9, _ and -");

const object = shape.refine((value) => value.type === "object", "must be of type object");

export const moduleManifest = z.strictObject({
  format: z.literal(1),
  name: moduleName,
  /** Raised whenever the same state could be answered differently. */
  version: z.string().regex(/^\d+\.\d+\.\d+$/, 'must be a version like "1.0.0"'),
  summary: z.string().min(1).max(500),
  /** A Python program in the folder: takes the query's name as its argument and `args` as JSON on standard input, prints one JSON value. */
  program: z.string().regex(/^[a-z][a-z0-9_]*\.py$/, "must be a file like git_state.py"),
  queries: record(
    moduleName,
    z.strictObject({ summary: z.string().min(1).max(500), args: object, result: shape }),
  ),
});
export type ModuleManifest = z.output<typeof moduleManifest>;
export type { Shape };
