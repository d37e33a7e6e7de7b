/**
 * Reads bundles: event by event, or whole. A file that was cut off reads as a clean prefix; damage is an error that names what and
 * where. Unknown channels and fields are kept.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Decoder } from "@msgpack/msgpack";
import { McapStreamReader, type McapTypes } from "@mcap/core";
import { ShinkenError } from "../../errors/index.js";
import { type Channel, type Envelope, type PayloadOf, payloads } from "../format/channels.js";
import { mapTexts, ObservationDeltas } from "../format/delta.js";
import { BlobRef, values } from "../format/values.js";
import { messageEncoding, readLimits, sknProfile, sknVersion } from "../format/version.js";
import { decompress, zstdReady } from "../format/zstd.js";
import { blobPath } from "../write/blobs.js";
import { upcast } from "./upcast.js";

/** An event as it was recorded, references and changes resolved. */
export type BundleEvent<C extends Channel = Channel> = {
  [Name in C]: Envelope & { channel: Name } & PayloadOf<Name>;
}[C];

/** An event of a channel that this program does not know. */
export interface ForeignEvent {
  channel: string;
  foreign: true;
  seq: number;
  t_wall: number;
  /** Decoded where it is msgpack, else its bytes. */
  payload: unknown;
  /** As it stands in the file. */
  raw: { topic: string; messageEncoding: string; schema: McapTypes.Schema | null; data: Uint8Array };
}

export interface ReadOptions {
  /** Resolve content that lies beside the bundle; true if unsaid. Else it stays a `BlobRef`. */
  blobs?: boolean;
  /** Folder that holds `blobs`; found from the file's place if unsaid. */
  folder?: string;
}

/** How the reading of a file ended. */
export interface ReadEnd {
  /** False: no end was found; the writer was killed, or is still at work. */
  finished: boolean;
  /** Of the file as read, in hex. */
  sha256: string;
  bytes: number;
  /** Version of the events as they stood in the file. */
  version: number;
  library: string;
}

const decoder = new Decoder({ extensionCodec: values });

/**
 * The events of a bundle, in order. Returns how the file ended.
 * @throws ShinkenError `bad_bundle` for damage or a file of another kind, `unsupported_version` for events newer than this program,
 * `blob_missing` for content that is not where it should be.
 */
export async function* readEvents(
  path: string,
  options: ReadOptions = {},
): AsyncGenerator<BundleEvent | ForeignEvent, ReadEnd, undefined> {
  await zstdReady;
  const reader = new McapStreamReader({ decompressHandlers, validateCrcs: true });
  const hash = createHash("sha256");
  const state = new EventDecoder(path, options);
  let bytes = 0;
  let ended = false;
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.byteLength;
    if (reader.done()) throw damaged(path, bytes, "bytes follow its end");
    state.at = bytes;
    try {
      reader.append(piece);
      if (reader.bytesRemaining() > readLimits.recordBytes * 2) throw new Error("a record is too long");
      for (let record = reader.nextRecord(); record !== undefined; record = reader.nextRecord()) {
        ended ||= record.type === "Footer";
        const event = await state.take(record);
        if (event !== null) yield event;
      }
    } catch (cause) {
      if (cause instanceof ShinkenError) throw cause;
      throw damaged(path, bytes, (cause as Error).message, cause);
    }
  }
  if (state.library === null) throw damaged(path, bytes, "it has no header");
  const finished = ended && reader.done();
  return { finished, sha256: hash.digest("hex"), bytes, version: state.version, library: state.library };
}

const pieceBytes = 1024 * 1024;

/** For the mcap library; bounded, unlike what a chunk says of itself. */
export const decompressHandlers: McapTypes.DecompressHandlers = {
  zstd: (data, size) => {
    if (size > BigInt(readLimits.recordBytes)) throw new Error(`a chunk says it unpacks to ${size} bytes`);
    return decompress(data, Number(size), readLimits.recordBytes);
  },
};

function damaged(path: string, at: number, why: string, cause?: unknown): ShinkenError {
  return new ShinkenError("bad_bundle", `${path} is damaged before byte ${at}: ${why}`, {
    path,
    suggestion: "shinken replay recover saves what is whole",
    cause,
  });
}

/** Turns records into events. */
class EventDecoder {
  library: string | null = null;
  version = sknVersion;
  /** Bytes read so far, for messages. */
  at = 0;
  readonly #path: string;
  readonly #options: ReadOptions;
  readonly #schemas = new Map<number, McapTypes.Schema>();
  readonly #channels = new Map<number, McapTypes.Channel>();
  readonly #deltas = new ObservationDeltas();
  readonly #blobs = new Map<string, unknown>();
  #next = 0;

  constructor(path: string, options: ReadOptions) {
    this.#path = path;
    this.#options = options;
  }

  async take(record: McapTypes.TypedMcapRecord): Promise<BundleEvent | ForeignEvent | null> {
    switch (record.type) {
      case "Header":
        if (record.profile !== sknProfile)
          throw new ShinkenError(
            "bad_bundle",
            `${this.#path} is an MCAP file of profile ${JSON.stringify(record.profile)}, not ${sknProfile}`,
          );
        this.library = record.library;
        return null;
      case "Schema":
        this.#define(this.#schemas, record.id, record);
        return null;
      case "Channel":
        this.#define(this.#channels, record.id, record);
        return null;
      case "Message":
        return this.#message(record);
      default:
        return null;
    }
  }

  #define<T>(map: Map<number, T>, id: number, record: T): void {
    map.set(id, record);
    if (map.size > readLimits.channels) throw damaged(this.#path, this.at, "it defines too many channels");
  }

  async #message(message: McapTypes.Message): Promise<BundleEvent | ForeignEvent> {
    const channel = this.#channels.get(message.channelId);
    if (channel === undefined) throw damaged(this.#path, this.at, "a message belongs to no channel");
    if (!Object.hasOwn(payloads, channel.topic)) return this.#foreign(message, channel);
    let event = this.#decode(message.data) as Record<string, unknown>;
    if (typeof event !== "object" || event === null || Array.isArray(event))
      throw damaged(this.#path, this.at, `an event of ${channel.topic} is no map`);
    if (channel.topic === "session" && typeof event["skn"] === "number") this.version = event["skn"];
    if (this.version > sknVersion)
      throw new ShinkenError(
        "unsupported_version",
        `${this.#path} has events of version ${this.version}; this program reads up to ${sknVersion}`,
        {
          path: this.#path,
          suggestion: "use a newer shinken",
        },
      );
    event = upcast(channel.topic as Channel, event, this.version);
    if (event["seq"] !== this.#next)
      throw damaged(this.#path, this.at, `event ${this.#next} is missing: ${String(event["seq"])} follows`);
    this.#next += 1;
    event = (await this.#resolve(event)) as Record<string, unknown>;
    if (channel.topic === "observation")
      event = { ...event, observation: this.#deltas.decode(event["observation"]) };
    return { ...event, channel: channel.topic } as unknown as BundleEvent;
  }

  #foreign(message: McapTypes.Message, channel: McapTypes.Channel): ForeignEvent {
    const { topic, messageEncoding: encoding } = channel;
    const data = Uint8Array.from(message.data);
    const payload = encoding === messageEncoding ? this.#decode(data) : data;
    const seq = (payload as { seq?: unknown } | null)?.seq;
    // A later version's channel takes part in the numbering; a stranger's does not.
    if (seq === this.#next) this.#next += 1;
    return {
      channel: topic,
      foreign: true,
      seq: message.sequence,
      t_wall: Number(message.logTime / 1_000_000n),
      payload,
      raw: { topic, messageEncoding: encoding, schema: this.#schemas.get(channel.schemaId) ?? null, data },
    };
  }

  #decode(data: Uint8Array): unknown {
    try {
      return decoder.decode(data);
    } catch (cause) {
      throw damaged(this.#path, this.at, `an event is not valid msgpack: ${(cause as Error).message}`, cause);
    }
  }

  async #resolve(value: unknown): Promise<unknown> {
    if (this.#options.blobs === false) return value;
    const wanted: BlobRef[] = [];
    mapTexts(value, (_path, leaf) => {
      if (leaf instanceof BlobRef && !this.#blobs.has(keyOf(leaf))) wanted.push(leaf);
      return leaf;
    });
    for (const ref of wanted)
      this.#blobs.set(keyOf(ref), await readBlob(folderOf(this.#path, this.#options), ref));
    const resolved = mapTexts(value, (_path, leaf) =>
      leaf instanceof BlobRef ? this.#blobs.get(keyOf(leaf)) : leaf,
    );
    this.#blobs.clear();
    return resolved;
  }
}

const keyOf = (ref: BlobRef): string => `${ref.kind} ${ref.sha256}`;

/** A bundle lies in a folder of its task's; the blobs are one level up, or beside it where somebody has moved it. */
export function folderOf(path: string, { folder }: ReadOptions = {}): string {
  return folder ?? dirname(dirname(path));
}

/** The content of a blob, checked against its hash. Rejects with `blob_missing` or `bad_bundle`. */
export async function readBlob(folder: string, ref: BlobRef): Promise<string | Uint8Array> {
  const path = blobPath(folder, ref.sha256);
  await zstdReady;
  let packed: Buffer;
  try {
    packed = await readFile(path);
  } catch (cause) {
    throw new ShinkenError("blob_missing", `the content ${ref.sha256} of an event is not at ${path}`, {
      path,
      suggestion: "move bundles together with their blobs folder",
      cause,
    });
  }
  const content = decompress(packed, ref.bytes, readLimits.blobBytes);
  if (createHash("sha256").update(content).digest("hex") !== ref.sha256)
    throw new ShinkenError("bad_bundle", `${path} is damaged: its content has another hash`, { path });
  return ref.kind === "text" ? Buffer.from(content).toString("utf8") : Uint8Array.from(content);
}
