/** What the house knows of a channel before anything is read: its queries and what they return. */
import { z } from "zod";

/** Types that a query can return; there is no boolean, so nothing can be true by accident. */
export type ResultType = "text" | "number" | "json" | "table" | "file" | "list" | "bytes" | "image";

export interface ChannelDescription<Query extends z.ZodType> {
  /** One schema of all kinds; each kind has a literal field `kind`. */
  query: Query;
  /** Kind of a query to the type of its result. */
  results: Readonly<Record<string, ResultType>>;
  /** Raised whenever the same state could be read differently; a part of every verifier's version. */
  version: number;
  /** Queries only look: they may run at once and before it is known whether they are needed. */
  onlyLooks: boolean;
  /** Queries are about the machine, and a grading fork is taken for them. */
  machine: boolean;
  /** Queries talk to what runs in the machine: each has a fork of its own, in which the workload goes on. */
  live?: boolean;
  /** Each query has a fork of its own: what it starts may be of the agent's making. */
  ownFork?: boolean;
  /** Images that have what the channel needs; every image if unsaid. */
  images?: readonly string[];
}

/** Groups of images by what they offer to channels. */
export const images = {
  /** Those with a screen and what belongs to it. There is none yet: tasks that need one are refused. */
  desktop: ["desktop"],
} as const;

/** States a channel; keeps the exact type of its queries. */
export function describe<Query extends z.ZodType>(
  description: ChannelDescription<Query>,
): ChannelDescription<Query> {
  return description;
}

/** Longest path that Linux takes. */
const PATH_MAX = 4095;
/** Bytes of a file that an author may ask for. */
const READ_LIMIT = 256 * 1024 * 1024;

/** An absolute path of the machine. */
export const guestPath = z
  .string()
  .min(1)
  .max(PATH_MAX)
  .refine((path) => path.startsWith("/"), "must be an absolute path")
  .refine((path) => !path.includes("\0"), "must not hold a NUL byte");

/** Bytes above which a file is not read, where an author says so. */
export const maxBytes = z.int().positive().max(READ_LIMIT).optional();
