/** What every part of the format agrees on. `docs/skn.md` is the specification. */

/** Version of the events that this program writes; readers know all versions up to it. */
export const sknVersion = 1;

/** MCAP header of a bundle. */
export const sknProfile = "skn";

/** Encodings that the MCAP channel and schema records name. */
export const messageEncoding = "msgpack";
export const schemaEncoding = "jsonschema";

/** A chunk is closed at the end of each step, and before that at so many bytes, so that a kill loses little. */
export const chunkBytes = 64 * 1024;

/** Below so many bytes a chunk is stored as it is: compression would cost more time than it saves room. */
export const compressFrom = 512;

/** Texts and bytes from this size on are kept beside the bundle, by their content. */
export const blobBytes = 16 * 1024;

/** Texts from this size on are compared with what stood in their place one observation earlier. */
export const deltaChars = 256;

/** A delta names at most so many in a row before a text is written out again. */
export const deltaChain = 32;

/** Bounds of what a reader takes from a file. `docs/skn.md` has them too. */
export const readLimits = {
  /** Bytes of one MCAP record, and of one chunk unpacked. */
  recordBytes: 64 * 1024 * 1024,
  /** Bytes of a blob unpacked. */
  blobBytes: 256 * 1024 * 1024,
  /** Bytes of blobs and code units of changed texts that one event may stand for. */
  eventBytes: 512 * 1024 * 1024,
  /** Bytes of events unpacked, and what they stand for, where a bundle is read as a whole. */
  bundleBytes: 2 * 1024 * 1024 * 1024,
  /** Channels and schemas that one file may define. */
  channels: 1_024,
  /** Levels of nesting in a payload; the event's map is the first. */
  depth: 64,
  /** Items of a list, fields of a map. */
  entries: 1_048_576,
} as const;
