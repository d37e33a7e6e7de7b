/**
 * The queries of all channels. Each states the type of its result; `resultType` is what the load-time proof of
 * "query and assertion fit" reads.
 */
import { z } from "zod";

/** Longest path that Linux takes. */
const PATH_MAX = 4095;
const CHUNK_LIMIT = 256 * 1024 * 1024;

export const guestPath = z
  .string()
  .min(1)
  .max(PATH_MAX)
  .refine((path) => path.startsWith("/"), "must be an absolute path")
  .refine((path) => !path.includes("\0"), "must not hold a NUL byte");

const maxBytes = z.int().positive().max(CHUNK_LIMIT).optional();

/** Files of the machine. */
export const fsQuery = z.discriminatedUnion("kind", [
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
export const processQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("count"), ...processFilter }),
  z.strictObject({ kind: z.literal("names"), ...processFilter }),
  z.strictObject({ kind: z.literal("table"), ...processFilter }),
]);

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
export const sqliteQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("table"), ...sqliteCommon }),
  z.strictObject({ kind: z.literal("number"), ...sqliteCommon }),
  z.strictObject({ kind: z.literal("text"), ...sqliteCommon }),
  z.strictObject({ kind: z.literal("column"), ...sqliteCommon }),
]);

/** A word of a command line: text, a number as its shortest decimal, or where a grading asset lies in the fork. */
const graderWord = z.union([
  z.string(),
  z.number().transform((value) => String(value)),
  z.strictObject({ asset: z.string().min(1) }),
]);

/** A command in the grading fork, run as the grader, that prints one JSON value. */
export const execJsonQuery = z.strictObject({
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

/** What the agent said, and how it ended. */
export const episodeQuery = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("answer") }),
  z.strictObject({ kind: z.literal("answer_number") }),
  z.strictObject({ kind: z.literal("answer_json") }),
  z.strictObject({ kind: z.literal("answer_lines") }),
  z.strictObject({ kind: z.literal("end") }),
  z.strictObject({ kind: z.literal("reason") }),
  z.strictObject({ kind: z.literal("steps") }),
  z.strictObject({ kind: z.literal("actions") }),
]);

/** A channel with its query, the `{channel, query}` pair of a check or of an expected value. */
export const channelQuery = z.discriminatedUnion("channel", [
  z.strictObject({ channel: z.literal("fs"), query: fsQuery }),
  z.strictObject({ channel: z.literal("process"), query: processQuery }),
  z.strictObject({ channel: z.literal("sqlite"), query: sqliteQuery }),
  z.strictObject({ channel: z.literal("exec-json"), query: execJsonQuery }),
  z.strictObject({ channel: z.literal("episode"), query: episodeQuery }),
]);

export type FsQuery = z.output<typeof fsQuery>;
export type ProcessQuery = z.output<typeof processQuery>;
export type SqliteQuery = z.output<typeof sqliteQuery>;
export type ExecJsonQuery = z.output<typeof execJsonQuery>;
export type EpisodeQuery = z.output<typeof episodeQuery>;
export type ChannelQuery = z.output<typeof channelQuery>;
export type ChannelName = ChannelQuery["channel"];

export const channelNames = [
  "fs",
  "process",
  "sqlite",
  "exec-json",
  "episode",
] as const satisfies ChannelName[];

/** Types that a query can return; there is no boolean, so nothing can be true by accident. */
export type ResultType = "text" | "number" | "json" | "table" | "file" | "list" | "bytes";

const resultTypes: Record<ChannelName, Record<string, ResultType>> = {
  fs: {
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
  process: { count: "number", names: "list", table: "table" },
  sqlite: { table: "table", number: "number", text: "text", column: "list" },
  "exec-json": { json: "json" },
  episode: {
    answer: "text",
    answer_number: "number",
    answer_json: "json",
    answer_lines: "list",
    end: "text",
    reason: "text",
    steps: "number",
    actions: "list",
  },
};

/** The type that a query returns when what it asks for is there. */
export function resultType(query: ChannelQuery): ResultType {
  const type = resultTypes[query.channel][query.query.kind];
  if (type === undefined) throw new Error(`no result type for ${query.channel}/${query.query.kind}`);
  return type;
}
