/**
 * Writes one bundle: an MCAP file that is only ever appended to. Record layouts are the mcap library's; what is decided here is when
 * a chunk ends (docs/skn.md, "Chunks"). Synchronous: it runs on the recorder's own thread.
 */
import { createHash, type Hash } from "node:crypto";
import { closeSync, fsync, ftruncateSync, openSync, writeSync } from "node:fs";
import { promisify } from "node:util";
import { Encoder } from "@msgpack/msgpack";
import { McapChunkBuilder, McapConstants, McapRecordBuilder, type McapTypes } from "@mcap/core";
import { crc32, crc32Final, crc32Init, crc32Update } from "@foxglove/crc";
import { type Channel, channelNames, type Envelope } from "../format/channels.js";
import { allSchemas } from "../format/schemas.js";
import { values } from "../format/values.js";
import {
  chunkBytes,
  compressFrom,
  messageEncoding,
  readLimits,
  schemaEncoding,
  sknProfile,
  sknVersion,
} from "../format/version.js";
import { compress } from "../format/zstd.js";
import { statisticsOf } from "./exact.js";

/** A channel of which this program has no schema: kept as it was read. */
export interface ForeignChannel {
  topic: string;
  schema: { name: string; encoding: string; data: Uint8Array } | null;
  messageEncoding: string;
  metadata: Map<string, string>;
}

interface KnownChannel {
  channel: McapTypes.Channel;
  schema: McapTypes.Schema | null;
}

/** What a bundle holds so far: what its summary tells at its end. */
export interface Written {
  /** Bytes. */
  length: number;
  channels: Map<string, KnownChannel>;
  chunks: McapTypes.ChunkIndex[];
  /** Messages by channel. */
  counts: Map<number, number>;
  /** Nanoseconds since 1970. */
  first: bigint | null;
  last: bigint;
  /** Checksum of those bytes, not finished yet. */
  crc: number;
}

/** Of a file that is to be made, or walked from its beginning. */
export function nothingWritten(): Written {
  return {
    length: 0,
    channels: new Map(),
    chunks: [],
    counts: new Map(),
    first: null,
    last: 0n,
    crc: crc32Init(),
  };
}

const encoder = new Encoder({
  extensionCodec: values,
  ignoreUndefined: true,
  maxDepth: readLimits.depth,
});
const schemaData = new Map(
  Object.entries(allSchemas()).map(([name, schema]) => [
    name,
    new TextEncoder().encode(JSON.stringify(schema)),
  ]),
);

/** Of every chunk, and there is one a step. */
export const noMessageIndexes = new Map<number, bigint>();

/** Names the program in the header of each file. */
export function libraryName(runtime: string): string {
  return `${runtime} skn/${sknVersion}`;
}

export class BundleWriter {
  readonly #fd: number;
  /** Its length counts whole records: what a failed write leaves beyond is cut off. */
  readonly #written: Written;
  readonly #chunk = new McapChunkBuilder({ useMessageIndex: false });
  /** Used again for each record: a new one takes 4 KiB. */
  readonly #record = new McapRecordBuilder();
  readonly #hash: Hash;
  /** Of the latest event. */
  #time = { milliseconds: 0, nanoseconds: 0n };
  #closed = false;

  private constructor(fd: number, written: Written, hash: Hash) {
    this.#fd = fd;
    this.#written = written;
    this.#hash = hash;
  }

  /** Makes the file, which must not be there. Throws what the file system says. */
  static create(path: string, runtime: string): BundleWriter {
    const fd = openSync(path, "wx", 0o600);
    const writer = new BundleWriter(fd, nothingWritten(), createHash("sha256"));
    const head = new McapRecordBuilder();
    head.writeMagic();
    head.writeHeader({ profile: sknProfile, library: libraryName(runtime) });
    try {
      writer.#write(head.buffer);
    } catch (error) {
      writer.abandon();
      throw error;
    }
    return writer;
  }

  /** Goes on with a file that holds just what `written` says; `hash` has seen those bytes. */
  static resume(path: string, written: Written, hash: Hash): BundleWriter {
    return new BundleWriter(openSync(path, "a"), written, hash);
  }

  /** Bytes on disk. */
  get length(): number {
    return this.#written.length;
  }

  /** Adds an event; it is on disk once its chunk is closed. */
  add(channel: Channel, event: Envelope & Record<string, unknown>): void {
    this.addEncoded(this.#known(channel), event.seq, event.t_wall, encoder.encodeSharedRef(event));
  }

  /** Adds an event of a channel of somebody else's, already encoded. */
  addForeign(foreign: ForeignChannel, sequence: number, milliseconds: number, data: Uint8Array): void {
    this.addEncoded(this.#foreign(foreign), sequence, milliseconds, data);
  }

  private addEncoded(
    { channel }: KnownChannel,
    sequence: number,
    milliseconds: number,
    data: Uint8Array,
  ): void {
    const time = this.#nanoseconds(milliseconds);
    const message = { channelId: channel.id, sequence, logTime: time, publishTime: time, data };
    this.#chunk.addMessage(message);
    const { counts, first, last } = this.#written;
    counts.set(channel.id, (counts.get(channel.id) ?? 0) + 1);
    if (first === null || time < first) this.#written.first = time;
    if (time > last) this.#written.last = time;
    if (this.#chunk.byteLength >= chunkBytes) this.closeChunk();
  }

  /** Events come many in a millisecond, and big integers are dear. */
  #nanoseconds(milliseconds: number): bigint {
    if (milliseconds !== this.#time.milliseconds)
      this.#time = { milliseconds, nanoseconds: BigInt(Math.round(milliseconds)) * 1_000_000n };
    return this.#time.nanoseconds;
  }

  /** Hands everything so far to the operating system: a killed process does not lose it. */
  closeChunk(): void {
    if (this.#chunk.numMessages === 0) return;
    const raw = this.#chunk.buffer;
    const packed = raw.byteLength < compressFrom ? null : compress(raw);
    const compressed = packed !== null && packed.byteLength < raw.byteLength;
    const records = compressed ? packed : raw;
    const record = this.#record;
    record.reset();
    record.writeChunk({
      messageStartTime: this.#chunk.messageStartTime,
      messageEndTime: this.#chunk.messageEndTime,
      uncompressedSize: BigInt(raw.byteLength),
      uncompressedCrc: crc32(raw),
      compression: compressed ? "zstd" : "",
      records,
    });
    const at = this.#written.length;
    const bytes = record.buffer;
    this.#write(bytes);
    this.#written.chunks.push({
      messageStartTime: this.#chunk.messageStartTime,
      messageEndTime: this.#chunk.messageEndTime,
      chunkStartOffset: BigInt(at),
      chunkLength: BigInt(bytes.byteLength),
      messageIndexOffsets: noMessageIndexes,
      messageIndexLength: 0n,
      compression: compressed ? "zstd" : "",
      compressedSize: BigInt(records.byteLength),
      uncompressedSize: BigInt(raw.byteLength),
    });
    this.#chunk.reset();
  }

  /** Closes the last chunk, writes the summary, and waits until the disk has it all. */
  async finish(): Promise<void> {
    this.closeChunk();
    const tail = new McapRecordBuilder();
    const { channels, chunks, crc } = this.#written;
    tail.writeDataEnd({ dataSectionCrc: crc32Final(crc) });
    const dataEndBytes = tail.length;
    const summaryAt = this.#written.length + dataEndBytes;
    for (const { schema } of channels.values()) if (schema !== null) tail.writeSchema(schema);
    for (const { channel } of channels.values()) tail.writeChannel(channel);
    tail.writeStatistics(statisticsOf(this.#written));
    for (const index of chunks) tail.writeChunkIndex(index);
    tail.writeFooter({ summaryStart: BigInt(summaryAt), summaryOffsetStart: 0n, summaryCrc: 0 });
    // The checksum is the footer's last field, and of everything in the summary before it.
    const summary = Buffer.from(tail.buffer);
    const checked = summary.subarray(dataEndBytes, -4);
    summary.writeUInt32LE(crc32(checked), summary.byteLength - 4);
    this.#write(Buffer.concat([summary, Uint8Array.from(McapConstants.MCAP_MAGIC)]));
    await promisify(fsync)(this.#fd);
    this.abandon();
  }

  /** Of everything written, in hex; once, after `finish`. */
  sha256(): string {
    return this.#hash.digest("hex");
  }

  /** Closes the file as it stands. Idempotent. */
  abandon(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  #write(bytes: Uint8Array): void {
    let done = 0;
    try {
      while (done < bytes.byteLength) done += writeSync(this.#fd, bytes, done, bytes.byteLength - done);
    } catch (error) {
      try {
        ftruncateSync(this.#fd, this.#written.length);
      } catch {
        // A reader takes the whole records before it as a clean prefix.
      }
      throw error;
    }
    this.#written.length += bytes.byteLength;
    this.#written.crc = crc32Update(this.#written.crc, bytes);
    this.#hash.update(bytes);
  }

  #known(name: Channel): KnownChannel {
    const known = this.#written.channels.get(name);
    if (known !== undefined) return known;
    const id = this.#freeId(channelNames.indexOf(name) + 1);
    return this.#define(name, {
      channel: { id, schemaId: id, topic: name, messageEncoding, metadata: new Map() },
      schema: {
        id,
        name: `skn.${name}`,
        encoding: schemaEncoding,
        data: schemaData.get(name) ?? new Uint8Array(0),
      },
    });
  }

  #foreign(foreign: ForeignChannel): KnownChannel {
    const known = this.#written.channels.get(foreign.topic);
    if (known !== undefined) return known;
    // After all of ours, used or not.
    const id = this.#freeId(channelNames.length + 1);
    const schema = foreign.schema === null ? null : { id, ...foreign.schema };
    const { topic, messageEncoding: encoding, metadata } = foreign;
    return this.#define(topic, {
      channel: { id, schemaId: schema === null ? 0 : id, topic, messageEncoding: encoding, metadata },
      schema,
    });
  }

  /** The id that is wanted, or the next one that no channel and no schema of this file has. */
  #freeId(wanted: number): number {
    const channels = [...this.#written.channels.values()];
    const taken = new Set(channels.flatMap(({ channel, schema }) => [channel.id, schema?.id]));
    let id = wanted;
    while (taken.has(id)) id += 1;
    return id;
  }

  #define(name: string, known: KnownChannel): KnownChannel {
    if (known.schema !== null) this.#chunk.addSchema(known.schema);
    this.#chunk.addChannel(known.channel);
    this.#written.channels.set(name, known);
    return known;
  }
}
