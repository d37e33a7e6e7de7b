import { z } from "zod";
import { describe, guestPath } from "../describe.js";

const sqliteCommon = {
  path: guestPath,
  sql: z.string().min(1).max(100_000),
  /** Bound values for `?` (a list) or `:name` (an object). */
  bind: z
    .union([
      z.array(z.union([z.string(), z.number(), z.null()])),
      z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    ])
    .optional(),
};

/** One SELECT on a copy of a database and its write-ahead log. */
const sqliteQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("table"), ...sqliteCommon }),
  z.strictObject({ kind: z.literal("number"), ...sqliteCommon }),
  z.strictObject({ kind: z.literal("text"), ...sqliteCommon }),
  z.strictObject({ kind: z.literal("column"), ...sqliteCommon }),
]);

export type SqliteQuery = z.output<typeof sqliteQuery>;

export const sqliteChannel = describe({
  query: sqliteQuery,
  results: { table: "table", number: "number", text: "text", column: "list" },
  version: 2,
  onlyLooks: true,
  machine: true,
});
