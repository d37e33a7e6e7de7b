/** A code node: the escape hatch. A module among the task's grading assets computes a score that no assertion can state. */
import { z } from "zod";
import { jsonFields } from "../assertions/json-value.js";
import { type ChannelName, channelNames } from "../channels/schema.js";

/** MiB of the engine's whole memory: unless the node says otherwise, at least (the engine itself), and at most. */
const DEFAULT_MEMORY_MIB = 64;
const LEAST_MEMORY_MIB = 16;
const MEMORY_LIMIT_MIB = 512;

/** Endings of files that are modules. */
export const MODULE_FILE = /\.(?:js|mjs|ts|mts)$/;

export const codeSpec = z.strictObject({
  /** The grading asset whose default export grades. It may import the task's other modules by relative path. */
  module: z.string().regex(MODULE_FILE, "must end with .js, .mjs, .ts or .mts"),
  /** Channels that it may read. */
  channels: z.array(z.enum(channelNames as [ChannelName, ...ChannelName[]])).default(["fs"]),
  /** Handed to it as they are. */
  params: jsonFields.default({}),
  memory_mib: z.int().min(LEAST_MEMORY_MIB).max(MEMORY_LIMIT_MIB).default(DEFAULT_MEMORY_MIB),
  /** Where its clock stands; nothing in it tells the host's time. */
  now: z.iso.datetime({ offset: true }).default("1970-01-01T00:00:00Z"),
});
export type CodeSpec = z.output<typeof codeSpec>;
