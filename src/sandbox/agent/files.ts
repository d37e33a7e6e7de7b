/** Files of the guest: contents, records, hashes. */
import { createHash } from "node:crypto";
import type { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import type { FileStat, Look, ReadOptions, WriteOptions } from "../sandbox.js";
import { defaultUser, toBytes } from "./command.js";
import { GuestError, protocolError } from "./failures.js";
import { Channel, inputFrames, joined, Op } from "./frame.js";
import type { AgentLink, ExchangeOptions } from "./link.js";
import {
  fileRecord,
  fileStat,
  listReply,
  lookReply,
  parseRecords,
  readReply,
  recordName,
  writeReply,
} from "./replies.js";
import { request } from "./request.js";

/** Bytes of a file that may be read or written in one go. */
export const maxFileBytes = 256 << 20;
/** Bytes of one request: what waits in the monitor at a time is bounded both ways. */
const readStep = 32 << 20;
/** The first piece of a file where requests are gathered: most files end in it. */
const gatheredStep = 64 << 10;
const writeStep = 8 << 20;
/** A hash reads the file in pieces of this size. */
const hashStep = 8 << 20;
/** The most that a look brings along. */
const lookBytes = 32 << 10;
/** Entries of a folder that the agent sends at the most. */
const maxEntries = 65_536;
const recordCredit = 512 << 20;

async function readRange(
  link: AgentLink,
  path: string,
  range: { offset: number; limit: number; user: string | undefined },
  limits: ExchangeOptions,
): Promise<{ bytes: Uint8Array; size: number }> {
  const parts: Uint8Array[] = [];
  let got = 0;
  const reply = await request(link, Op.read, `read ${path}`, { path, ...range }, readReply, {
    ...limits,
    credit: range.limit,
    looks: range.limit <= gatheredStep ? range.limit : undefined,
    onData: (channel, bytes) => {
      if (channel !== Channel.file) throw protocolError(`file data on channel ${channel}`);
      got += bytes.length;
      parts.push(bytes.slice());
    },
  });
  if (reply.read !== got) throw protocolError(`${got} bytes of a file where ${reply.read} were announced`);
  return { bytes: joined(parts), size: reply.size };
}

function wholeNumber(value: number, path: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new ShinkenError("bad_request", `${path} is not a whole number of bytes.`, { path });
}

/** Contents of a regular file, or of a part of it. `too_large` if all of it is asked for and exceeds the limit. */
export async function readFile(
  link: AgentLink,
  path: string,
  options: ReadOptions,
  limits: ExchangeOptions,
): Promise<Uint8Array> {
  const limit = Math.min(wholeNumber(options.limit ?? maxFileBytes, "limit"), maxFileBytes);
  const offset = wholeNumber(options.offset ?? 0, "offset");
  const parts: Uint8Array[] = [];
  let got = 0;
  let size = 0;
  for (let asked = -1, came = -1; asked === came && got < limit; ) {
    asked = Math.min(limit - got, link.gathers && got === 0 ? gatheredStep : readStep);
    const range = { offset: offset + got, limit: asked, user: options.user };
    const piece = await readRange(link, path, range, limits);
    parts.push(piece.bytes);
    came = piece.bytes.length;
    got += came;
    size = piece.size;
  }
  const bytes = joined(parts);
  if (options.limit === undefined && bytes.length === limit && size - offset > limit) {
    throw new ShinkenError(
      "too_large",
      `${path} has ${size} bytes; at most ${maxFileBytes} are read in one go.`,
    );
  }
  return bytes;
}

/** Makes or replaces a file, or appends to it. */
export async function writeFile(
  link: AgentLink,
  path: string,
  data: Uint8Array | string,
  options: WriteOptions,
  limits: ExchangeOptions,
): Promise<void> {
  const bytes = toBytes(data) as Uint8Array;
  if (bytes.length > maxFileBytes) {
    throw new ShinkenError(
      "too_large",
      `A file of ${bytes.length} bytes; at most ${maxFileBytes} are written in one go.`,
    );
  }
  const fields = {
    path,
    mode: options.mode,
    user: options.user ?? defaultUser,
    parents: options.parents ?? true,
  };
  let done = 0;
  do {
    const piece = bytes.subarray(done, done + writeStep);
    const append = done > 0 ? true : options.append;
    const reply = await request(link, Op.write, `write ${path}`, { ...fields, append }, writeReply, {
      ...limits,
      following: (stream) => inputFrames(stream, piece, true),
    });
    if (reply.size !== piece.length) throw protocolError(`${reply.size} bytes written of ${piece.length}`);
    done += piece.length;
  } while (done < bytes.length);
}

export async function stat(
  link: AgentLink,
  path: string,
  limits: ExchangeOptions,
  follow?: boolean,
): Promise<FileStat> {
  return fileStat(
    path,
    await request(link, Op.stat, `stat ${path}`, { path, follow }, fileRecord, { ...limits, looks: 0 }),
  );
}

/** As `stat`, but null where nothing is. */
export function statIfExists(
  link: AgentLink,
  path: string,
  limits: ExchangeOptions,
): Promise<FileStat | null> {
  return unlessAbsent(() => stat(link, path, limits));
}

/** What lies at a path, with the content of a small file; null where nothing is. */
export function look(link: AgentLink, path: string, limits: ExchangeOptions): Promise<Look | null> {
  return unlessAbsent(async () => {
    try {
      const [record, bytes] = await request(link, Op.look, `read ${path}`, { path }, lookReply, {
        ...limits,
        looks: lookBytes,
      });
      return { stat: fileStat(path, record), bytes: bytes?.slice() };
    } catch (error) {
      // In a state that was kept, an agent may run that is older than this operation.
      if (!(error instanceof GuestError) || error.errno !== "ENOSYS") throw error;
      return { stat: await stat(link, path, limits) };
    }
  });
}

async function unlessAbsent<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof GuestError && (error.errno === "ENOENT" || error.errno === "ENOTDIR")) return null;
    throw error;
  }
}

/**
 * Entries of a folder sorted by name, the first `limit` of them. `too_large` for a folder that cannot be told in full, `guest_error`
 * with EILSEQ for one with a name or a link's target that is not UTF-8: no path of ours would lead there.
 */
export async function list(
  link: AgentLink,
  path: string,
  limit: number,
  limits: ExchangeOptions,
): Promise<FileStat[]> {
  const base = path.endsWith("/") ? path : `${path}/`;
  const records: z.infer<typeof fileRecord>[] = [];
  const reply = await request(link, Op.list, `list ${path}`, { path, limit: maxEntries }, listReply, {
    ...limits,
    credit: recordCredit,
    onData: (channel, bytes) => {
      if (channel !== Channel.records) throw protocolError(`records on channel ${channel}`);
      for (const record of parseRecords(fileRecord, bytes)) records.push(record);
      if (records.length > maxEntries) throw protocolError("more entries than asked for");
    },
  });
  if (reply.count !== records.length)
    throw protocolError(`${records.length} entries where ${reply.count} were announced`);
  if (reply.more) throw new ShinkenError("too_large", `${path} has more than ${maxEntries} entries.`);
  const entries = records.map((record) => {
    const name = recordName(path, record);
    return { name, stat: fileStat(base + name, record) };
  });
  entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return entries.slice(0, limit).map((entry) => entry.stat);
}

/**
 * SHA-256 in hex of a regular file, `too_large` beyond `limit` bytes. The host does the sum: reading costs the guest a hundredth of the
 * instructions.
 */
export async function hash(
  link: AgentLink,
  path: string,
  limit: number | undefined,
  limits: ExchangeOptions,
  user?: string,
): Promise<string> {
  const sum = createHash("sha256");
  for (let offset = 0; ; offset += hashStep) {
    const { bytes } = await readRange(link, path, { offset, limit: hashStep, user }, limits);
    sum.update(bytes);
    // Counted as it comes: files of /proc say that they are empty, and some have no end.
    if (limit !== undefined && offset + bytes.length > limit)
      throw new ShinkenError("too_large", `${path} has more than ${limit} bytes.`);
    if (bytes.length < hashStep) return sum.digest("hex");
  }
}
