import { z } from "zod";
import { describe, guestPath, maxBytes } from "../describe.js";

const file = { path: guestPath, max_bytes: maxBytes };
const listing = {
  ...file,
  /** Folders count as entries; their names end with a slash. */
  directories: z.boolean().default(false),
};
const one = { ...file, entry: z.string().min(1).max(4_095) };

/** Zip archives, and tar archives alone or packed by gzip, xz or zstd, told apart by their bytes. */
const archiveQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("entries"), ...listing }),
  z.strictObject({ kind: z.literal("manifest"), ...listing }),
  z.strictObject({ kind: z.literal("text"), ...one }),
  z.strictObject({ kind: z.literal("lines"), ...one }),
  z.strictObject({ kind: z.literal("json"), ...one }),
  z.strictObject({ kind: z.literal("bytes"), ...one }),
]);

export type ArchiveQuery = z.output<typeof archiveQuery>;

export const archiveChannel = describe({
  query: archiveQuery,
  results: { entries: "list", manifest: "json", text: "text", lines: "list", json: "json", bytes: "bytes" },
  version: 2,
  onlyLooks: true,
  machine: true,
});
