import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

/** Files of the machine. */
const fsQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("text"), path: guestPath, max_bytes: maxBytes }),
  z.strictObject({ kind: z.literal("lines"), path: guestPath, max_bytes: maxBytes }),
  z.strictObject({ kind: z.literal("number"), path: guestPath }),
  z.strictObject({ kind: z.literal("json"), path: guestPath, max_bytes: maxBytes }),
  z.strictObject({
    kind: z.literal("csv"),
    path: guestPath,
    max_bytes: maxBytes,
    delimiter: z.string().length(1).default(","),
    header: z.boolean().default(true),
    /** Columns, by name or number, whose cells are numbers; a cell that is none makes the check ungraded. */
    numeric: z.array(z.union([z.string(), z.int().nonnegative()])).default([]),
  }),
  z.strictObject({ kind: z.literal("bytes"), path: guestPath, max_bytes: maxBytes }),
  z.strictObject({ kind: z.literal("file"), path: guestPath }),
  z.strictObject({ kind: z.literal("hash"), path: guestPath }),
  z.strictObject({ kind: z.literal("tree"), path: guestPath, depth: z.int().min(1).max(64).default(32) }),
  z.strictObject({ kind: z.literal("manifest"), path: guestPath, depth: z.int().min(1).max(64).default(32) }),
  z.strictObject({ kind: z.literal("glob"), pattern: guestPath }),
]);

export type FsQuery = z.output<typeof fsQuery>;

export const fsChannel = describe({
  query: fsQuery,
  results: {
    text: "text",
    lines: "list",
    number: "number",
    json: "json",
    csv: "table",
    bytes: "bytes",
    file: "file",
    hash: "text",
    tree: "list",
    manifest: "json",
    glob: "list",
  },
  version: 2,
  onlyLooks: true,
  machine: true,
});
