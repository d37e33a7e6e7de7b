/** Bounds on one message, checked before anything is built from it. The same for both encodings. */
export interface WireLimits {
  /** Bytes of a whole message. The transport's own limit lies above it, so that this one answers with a code. */
  maxMessageBytes: number;
  /** Levels of maps and arrays, the message's own map included. */
  maxDepth: number;
  /** Entries of one map. */
  maxMapEntries: number;
  /** Entries of one array. */
  maxArrayEntries: number;
  /** Bytes of one string (msgpack) or characters of it (JSON). */
  maxStringBytes: number;
  /** Values in the whole message, keys not counted. */
  maxValues: number;
}

export const defaultWireLimits: Readonly<WireLimits> = {
  maxMessageBytes: 4 * 1024 * 1024,
  maxDepth: 32,
  maxMapEntries: 1024,
  maxArrayEntries: 65_536,
  maxStringBytes: 4 * 1024 * 1024,
  maxValues: 262_144,
};

/** Version of the native dialect; `/v1` in the address. */
export const protocolVersion = 1;
