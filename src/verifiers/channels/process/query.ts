import { z } from "zod";
import { describe } from "../describe.js";

const processFilter = {
  /** The kernel's name of the process, or the last part of argv[0]. */
  name: z.string().min(1).optional(),
  /** The first words of its command line, exactly. */
  argv: z.array(z.string()).min(1).optional(),
  /** Words that its command line holds, in any place. */
  argv_contains: z.array(z.string()).min(1).optional(),
  uid: z.int().nonnegative().optional(),
  zombies: z.boolean().default(false),
};

/** Processes of the machine. A dead process waiting for its parent does not count unless `zombies` is set. */
const processQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("count"), ...processFilter }),
  z.strictObject({ kind: z.literal("names"), ...processFilter }),
  z.strictObject({ kind: z.literal("table"), ...processFilter }),
]);

export type ProcessQuery = z.output<typeof processQuery>;

export const processChannel = describe({
  query: processQuery,
  results: { count: "number", names: "list", table: "table" },
  version: 1,
  onlyLooks: true,
  machine: true,
});
