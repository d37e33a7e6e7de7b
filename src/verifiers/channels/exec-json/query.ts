import { z } from "zod";
import { describe, guestPath } from "../describe.js";

/** A word of a command line: text, a number as its shortest decimal, or where a grading asset lies in the fork. */
const graderWord = z.union([
  z.string(),
  z.number().transform((value) => String(value)),
  z.strictObject({ asset: z.string().min(1) }),
]);

/** A command in the grading fork, run as the grader, that prints one JSON value. */
const execJsonQuery = z.strictObject({
  kind: z.literal("json").default("json"),
  argv: z
    .array(graderWord)
    .min(1)
    .max(1_000)
    .refine(
      (argv) => typeof argv[0] !== "string" || argv[0].startsWith("/"),
      "the program must be an absolute path",
    ),
  cwd: guestPath.default("/"),
  stdin: z.string().max(1_000_000).optional(),
  timeout_ms: z.int().positive().max(600_000).default(10_000),
  max_bytes: z.int().positive().max(16_777_216).default(1_048_576),
});

export type ExecJsonQuery = z.output<typeof execJsonQuery>;

export const execJsonChannel = describe({
  query: execJsonQuery,
  results: { json: "json" },
  version: 2,
  onlyLooks: false,
  machine: true,
});
