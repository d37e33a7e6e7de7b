import { z } from "zod";
import { describe, guestPath } from "../describe.js";

/** Commits that one log tells at the most. */
export const LOG_LIMIT = 10_000;

/** A branch, tag, other ref or hash (7 digits at least), with `~n` and `^n` after it. */
const ref = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\s~^:?*[\\]+(?:[~^]\d{0,5})*$/, "must be a ref or a hash, with ~n or ^n after it");
const path = guestPath;

/** A repository with SHA-1 names: its folder, or that of a bare one. */
const gitQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("head"), path }),
  z.strictObject({ kind: z.literal("branches"), path }),
  z.strictObject({ kind: z.literal("tags"), path }),
  z.strictObject({
    kind: z.literal("log"),
    path,
    ref: ref.default("HEAD"),
    /** Only the newest ones. */
    count: z.int().positive().max(LOG_LIMIT).optional(),
    first_parent: z.boolean().default(false),
  }),
  z.strictObject({ kind: z.literal("commit"), path, ref: ref.default("HEAD") }),
  z.strictObject({ kind: z.literal("tree"), path, ref: ref.default("HEAD") }),
  z.strictObject({
    kind: z.literal("text"),
    path,
    ref: ref.default("HEAD"),
    file: z.string().min(1).max(4_095),
  }),
  z.strictObject({
    kind: z.literal("diff"),
    path,
    from: ref.default("HEAD"),
    /** The working tree if unsaid. */
    to: ref.optional(),
  }),
  z.strictObject({ kind: z.literal("status"), path }),
]);

export type GitQuery = z.output<typeof gitQuery>;

export const gitChannel = describe({
  query: gitQuery,
  results: {
    head: "json",
    branches: "table",
    tags: "table",
    log: "table",
    commit: "json",
    tree: "list",
    text: "text",
    diff: "list",
    status: "table",
  },
  version: 1,
  onlyLooks: true,
  machine: true,
});
