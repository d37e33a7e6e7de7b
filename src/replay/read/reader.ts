/**
 * Reads bundles event by event. A file that was cut off reads as a clean prefix; damage is an error that names what and where.
 * Unknown channels and fields are kept. Files are taken for hostile: `docs/skn.md` has the bounds.
 */
import type { McapTypes } from "@mcap/core";
import type { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { type Channel, type Envelope, envelope, type PayloadOf, payloads } from "../format/channels.js";
import { ObservationDeltas } from "../format/delta.js";
import { mapLeaves } from "../format/leaves.js";
import { decodePayload } from "../format/msgpack.js";
import { eventSchemas, schemaPrefix } from "../format/schemas.js";
import { BlobRef } from "../format/values.js";
import { messageEncoding, readLimits, sknVersion } from "../format/version.js";
import { decompress } from "../format/zstd.js";
import { folderOf, readBlob } from "./content.js";
import type { ChannelRecord, MessageRecord, SchemaRecord } from "./records.js";
import { upcast } from "./upcast.js";
import { damaged, type DataRecord, type FileEnd, walk } from "./walk.js";

export { folderOf, readBlob } from "./content.js";

/** An event as it was recorded, references and changes resolved. */
export type BundleEvent<C extends Channel = Channel> = {
  [Name in C]: Envelope & { channel: Name } & PayloadOf<Name>;
}[C];

/** An event of a channel that this program does not know. */
export interface ForeignEvent {
  channel: string;
  foreign: true;
  /** As the MCAP message says it. */
  seq: number;
  t_wall: number;
  /** Decoded where it is msgpack by the format's rules, else its bytes. */
  payload: unknown;
  /** As it stands in the file. */
  raw: { topic: string; messageEncoding: string; schema: SchemaRecord | null; data: Uint8Array };
}

export interface ReadOptions {
  /**
   * Give content that lies beside the bundle; true if unsaid. Else events are as they stand in the file: such content is a
   * `BlobRef`, a changed text of an observation a `TextDelta`, and only envelopes are checked.
   */
  blobs?: boolean;
  /** Folder that holds `blobs`; found from the file's place if unsaid. */
  folder?: string;
}

/** How the reading of a file ended. */
export interface ReadEnd extends FileEnd {
  /** Version of the events as they stood in the file. */
  version: number;
}

/**
 * The events of a bundle, in order. Returns how the file ended.
 * @throws ShinkenError `bundle_missing`, `bad_bundle` for damage or a file of another kind, `unsupported_version` for events newer than
 * this program, `blob_missing` for content that is not where it should be, `too_large` for content beyond what is read.
 */
export function readEvents(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<BundleEvent | ForeignEvent, ReadEnd, undefined> {
  return events(path, options, Number.POSITIVE_INFINITY);
}

/** As `readEvents`, `too_large` beyond so many bytes of events and of what they stand for. */
export async function* events(
  path: string,
  options: ReadOptions,
  budget: number,
): AsyncGenerator<BundleEvent | ForeignEvent, ReadEnd, undefined> {
  const decoder = new EventDecoder(path, options, budget);
  const records = walk(path, (offset) => {
    decoder.at = offset;
  });
  try {
    for (;;) {
      const { done, value } = await records.next();
      if (done === true) return { ...value, version: decoder.version };
      const event = await decoder.take(value);
      if (event !== null) yield event;
    }
  } finally {
    // Whoever stops reading early leaves no file open.
    await records.return(undefined as never);
  }
}

/** For the mcap library; bounded, unlike what a chunk says of itself. */
export const decompressHandlers: McapTypes.DecompressHandlers = {
  zstd: (data, size) => {
    if (size > BigInt(readLimits.recordBytes)) throw new Error(`a chunk says it unpacks to ${size} bytes`);
    return decompress(data, Number(size), readLimits.recordBytes);
  },
};

/** Turns records into events. */
class EventDecoder {
  version = sknVersion;
  /** Offset of the outer record, for messages. */
  at = 0;
  readonly #path: string;
  readonly #options: ReadOptions;
  readonly #schemas = new Map<number, SchemaRecord>();
  readonly #channels = new Map<number, ChannelRecord>();
  readonly #deltas = new ObservationDeltas();
  #folder: string | null = null;
  #next = 0;
  /** Bytes that may still be read as a whole, and for the present event. */
  #budget: number;
  #left = 0;

  constructor(path: string, options: ReadOptions, budget: number) {
    this.#path = path;
    this.#options = options;
    this.#budget = budget;
  }

  async take({ type, record }: DataRecord): Promise<BundleEvent | ForeignEvent | null> {
    if (type === "message") return this.#message(record);
    const map: Map<number, unknown> = type === "schema" ? this.#schemas : this.#channels;
    map.set(record.id, record);
    if (map.size > readLimits.channels) throw this.#damaged("it defines too many channels");
    return null;
  }

  async #message(message: MessageRecord): Promise<BundleEvent | ForeignEvent> {
    const channel = this.#channels.get(message.channelId);
    if (channel === undefined) throw this.#damaged("a message belongs to no channel");
    this.#left = readLimits.eventBytes;
    this.#spend(message.data.byteLength);
    const { topic } = channel;
    if (!isChannel(topic)) return this.#foreign(message, channel);
    if (channel.messageEncoding !== messageEncoding)
      throw this.#damaged(`events of ${topic} are encoded as ${JSON.stringify(channel.messageEncoding)}`);
    const stored = this.#decode(message.data);
    if (!isMap(stored)) throw this.#damaged(`an event of ${topic} is no map`);
    this.#begin(topic, stored);
    let event = upcast(topic, stored, this.version);
    this.#count(event["seq"]);
    if (this.#options.blobs !== false) {
      event = (await this.#resolved(event)) as Record<string, unknown>;
      if (topic === "observation")
        event["observation"] = this.#deltas.decode(event["observation"], (length) => this.#spend(length));
      this.#check(eventSchemas[topic], topic, event);
    } else this.#check(envelope, topic, event);
    return { ...event, channel: topic } as unknown as BundleEvent;
  }

  /** The session comes first, once, and tells the version of all that follows. */
  #begin(topic: Channel, event: Record<string, unknown>): void {
    if ((topic === "session") !== (this.#next === 0))
      throw this.#damaged(
        this.#next === 0 ? `it begins with ${topic}, not its session` : "it has two sessions",
      );
    if (topic !== "session") return;
    const version = event["skn"];
    if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 0)
      throw this.#damaged("its session does not tell the version");
    this.version = version;
    if (version > sknVersion)
      throw new ShinkenError(
        "unsupported_version",
        `${this.#path} has events of version ${version}; this program reads up to ${sknVersion}`,
        { path: this.#path, suggestion: "use a newer shinken" },
      );
  }

  #count(seq: unknown): void {
    if (seq !== this.#next)
      throw this.#damaged(
        `event ${this.#next} is missing: ${typeof seq === "number" ? seq : "none"} follows`,
      );
    this.#next += 1;
  }

  #foreign(message: MessageRecord, channel: ChannelRecord): ForeignEvent {
    const { topic, messageEncoding: encoding } = channel;
    const schema = this.#schemas.get(channel.schemaId) ?? null;
    const data = Uint8Array.from(message.data);
    let payload: unknown = data;
    if (encoding === messageEncoding) {
      try {
        payload = decodePayload(data);
      } catch {
        // A stranger's msgpack may hold what ours may not: it stays bytes.
      }
    }
    // A later channel of the format takes part in the numbering; a stranger's does not.
    if (schema?.name.startsWith(schemaPrefix) === true) {
      if (this.#next === 0) throw this.#damaged(`it begins with ${topic}, not its session`);
      this.#count(isMap(payload) ? payload["seq"] : undefined);
    }
    return {
      channel: topic,
      foreign: true,
      seq: message.sequence,
      t_wall: Number(message.logTime / 1_000_000n),
      payload,
      raw: { topic, messageEncoding: encoding, schema, data },
    };
  }

  #decode(data: Uint8Array): unknown {
    try {
      return decodePayload(data);
    } catch (cause) {
      throw this.#damaged(`event ${this.#next} is not valid msgpack: ${(cause as Error).message}`, cause);
    }
  }

  /** With the content of its blobs, each read once. */
  async #resolved(value: unknown): Promise<unknown> {
    const contents = new Map<string, unknown>();
    const wanted: BlobRef[] = [];
    mapLeaves(value, (_path, leaf) => {
      if (!(leaf instanceof BlobRef)) return leaf;
      this.#spend(leaf.bytes);
      if (!contents.has(keyOf(leaf))) wanted.push(leaf);
      contents.set(keyOf(leaf), null);
      return leaf;
    });
    if (wanted.length === 0) return value;
    for (const ref of wanted) {
      this.#folder ??= folderOf(this.#path, this.#options);
      contents.set(keyOf(ref), await readBlob(this.#folder, ref));
    }
    return mapLeaves(value, (_path, leaf) => (leaf instanceof BlobRef ? contents.get(keyOf(leaf)) : leaf));
  }

  #check(schema: z.ZodType, topic: Channel, event: Record<string, unknown>): void {
    const checked = schema.safeParse(event);
    if (checked.success) return;
    const issue = checked.error.issues[0];
    const place = issue?.path.join(".") ?? "";
    throw this.#damaged(
      `event ${this.#next - 1} (${topic}) breaks its schema at ${place}: ${issue?.message}`,
    );
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    this.#budget -= bytes;
    if (this.#left < 0 || this.#budget < 0)
      throw new ShinkenError(
        "too_large",
        `${this.#path}: event ${this.#next} and what it stands for is more than is read`,
        { path: this.#path },
      );
  }

  #damaged(why: string, cause?: unknown): ShinkenError {
    return damaged(this.#path, this.at, cause === undefined ? why : new Error(why, { cause }));
  }
}

const keyOf = (ref: BlobRef): string => `${ref.kind} ${ref.bytes} ${ref.sha256}`;

function isChannel(topic: string): topic is Channel {
  return Object.hasOwn(payloads, topic);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
