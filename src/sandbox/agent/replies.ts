/** Replies of the agent as schemas: the guest is hostile, so every field is checked for its kind and bounds. */
import { decode, decodeMulti } from "@msgpack/msgpack";
import { z } from "zod";
import type { FileStat, FileType, ProcessInfo } from "../sandbox.js";
import { GuestError, protocolError } from "./failures.js";

const count = z.number().min(0);
/** Bytes of a file. The kernel claims more of /proc/kcore than its own type holds, and anybody can link there. */
const fileSize = z.number().transform((size) => (size < 0 ? Number.MAX_SAFE_INTEGER : size));
const small = z.number().int().min(0).max(0xffff_ffff);
/** A binary value; a frame bounds its length. */
const bytes = z.instanceof(Uint8Array);

export const helloReply = z.strictObject({
  protocol: z.literal(1),
  ports: z.number().int().min(1).max(2),
  host_test: z.boolean(),
  controllers: z.boolean(),
});
export const execReply = z.strictObject({
  exit: z.number().int().min(0).max(255).nullable(),
  signal: z.number().int().min(1).max(127).nullable(),
  timedOut: z.boolean(),
  oomKilled: z.boolean(),
  dropped: z.tuple([count, count]),
  us: count,
});
export const awaitReply = z.strictObject({
  matched: z.boolean(),
  ended: z.boolean(),
  line: bytes,
  dropped: count,
});
export const readReply = z.strictObject({
  size: fileSize,
  read: count,
  mode: z.number().int().min(0).max(0o7777),
  mtime: z.tuple([z.number(), small]),
});
export const writeReply = z.strictObject({ size: count });
export const listReply = z.strictObject({ count, more: z.boolean() });
export const warmReply = z.strictObject({ files: count, bytes: count });
export const emptyReply = z.strictObject({});
export const errorReply = z.strictObject({ code: z.string().min(1).max(32), where: z.string().max(64) });
export const uniquenessReply = z.strictObject({
  generation: bytes.refine((value) => value.length === 16),
  sample: bytes.refine((value) => value.length === 32),
  network: z.enum(["absent", "set"]),
  notified: small,
  hooks: small.default(0),
});

const fileTypes: Record<string, FileType> = {
  f: "file",
  d: "directory",
  l: "symlink",
  p: "fifo",
  s: "socket",
  c: "char",
  b: "block",
};
export const fileRecord = z.tuple([
  bytes,
  z.enum(["f", "d", "l", "p", "s", "c", "b"]),
  z.number().int().min(0).max(0o7777),
  fileSize,
  small,
  small,
  z.number(),
  small,
  bytes.nullable(),
]);
export const lookReply = z.tuple([fileRecord, bytes.nullable()]);
/** A process's number and command line. */
export const commandLineRecord = z.tuple([small, z.array(bytes)]);
export const processRecord = z.tuple([
  small,
  small,
  small,
  z.string().length(1),
  bytes,
  z.array(bytes),
  count,
]);

/** Names are compared with what somebody wrote: no two may look the same, so nothing is replaced or left out. */
const exactText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The kernel cuts a process's name within a letter, and no path is made of it. */
const looseText = new TextDecoder("utf-8", { ignoreBOM: true });

/** The one value in `payload`, checked. Throws `agent_protocol`. */
export function parseReply<T>(schema: z.ZodType<T>, payload: Uint8Array): T {
  let value: unknown;
  try {
    value = decode(payload);
  } catch (cause) {
    throw protocolError("a reply is not msgpack", cause);
  }
  return checked(schema, value);
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw protocolError(`a reply is malformed at '${issue?.path.join(".") ?? ""}': ${issue?.message ?? ""}`);
}

/** All records in a frame of channel 3. Throws `agent_protocol`. */
export function parseRecords<T>(schema: z.ZodType<T>, payload: Uint8Array): T[] {
  const records: T[] = [];
  try {
    for (const value of decodeMulti(payload)) records.push(checked(schema, value));
  } catch (cause) {
    throw protocolError("a record is malformed", cause);
  }
  return records;
}

/** Bytes that an error shows. */
const shownBytes = 64;

/** A name in UTF-8. Throws `guest_error` with EILSEQ and its first bytes in hex for one that is not; `what` is what was asked. */
function exact(bytes: Uint8Array, what: string, step: "name" | "target"): string {
  try {
    return exactText.decode(bytes);
  } catch {
    const hex = Buffer.from(bytes.subarray(0, shownBytes)).toString("hex");
    throw new GuestError(what, "EILSEQ", step, `0x${hex}${bytes.length > shownBytes ? "..." : ""}`);
  }
}

/** A file's record as the contract has it; `path` is the whole path. Throws `guest_error` for a target that is not UTF-8. */
export function fileStat(path: string, record: z.infer<typeof fileRecord>): FileStat {
  const [, type, mode, size, uid, gid, seconds, nanoseconds, target] = record;
  return {
    path,
    type: fileTypes[type] as FileType,
    size,
    mode,
    uid,
    gid,
    mtime: seconds + nanoseconds / 1e9,
    ...(target === null ? {} : { target: exact(target, `stat ${path}`, "target") }),
  };
}

/** The name of an entry of `folder`. Throws `guest_error` for one that is not UTF-8. */
export function recordName(folder: string, record: z.infer<typeof fileRecord>): string {
  return exact(record[0], `list ${folder}`, "name");
}

export function processInfo(record: z.infer<typeof processRecord>): ProcessInfo {
  const [pid, ppid, uid, state, name, argv] = record;
  return {
    pid,
    ppid,
    uid,
    state,
    name: looseText.decode(name),
    argv: words(argv),
  };
}

/** A command line. */
export function words(argv: readonly Uint8Array[]): string[] {
  return argv.map((word) => looseText.decode(word));
}
