/**
 * Looks a bundle through record by record, for what is whole: where it ends, or where its first damage is, and what its summary and
 * its line in the index have to say. Reading events one by one is `read`'s.
 */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { crc32Final, crc32Init, crc32Update } from "@foxglove/crc";
import { McapConstants, McapStreamReader, type McapTypes } from "@mcap/core";
import { type Channel, payloads } from "../format/channels.js";
import { mapLeaves } from "../format/leaves.js";
import { decodePayload } from "../format/msgpack.js";
import { schemaPrefix } from "../format/schemas.js";
import { BlobRef } from "../format/values.js";
import { readLimits, sknProfile } from "../format/version.js";
import { zstdReady } from "../format/zstd.js";
import { decompressHandlers } from "../read/reader.js";
import { noMessageIndexes, nothingWritten, type Written } from "./bundle-writer.js";
import { EpisodeSummary } from "./episode-summary.js";
import { belongs, chunkFault, isExact, type Place, SummaryCheck } from "./exact.js";

/** A place in a file, and what is wrong there. */
export interface Damage {
  /**
   * Byte of the file at which the first record that is not whole begins. Where each record is whole in itself and only the checksum of the
   * data tells, the damage is somewhere in what that covers, and this is its beginning: 0.
   */
  at: number;
  what: string;
}

export interface Scan {
  /** `finished`: to its last byte. `cut`: whole up to `written.length`, and then nothing or a record that was being written. */
  state: "finished" | "cut" | "damaged";
  damage: Damage | null;
  /** The data that is whole, before any summary. */
  written: Written;
  /** Of the whole data; not digested yet. */
  hash: Hash;
  /** Of the whole file, in hex. */
  sha256: string;
  bytes: number;
  summary: EpisodeSummary;
  blobs: BlobRef[];
  /** Number of the next event. */
  next: number;
  /** Of the last event. */
  step: number;
  /** Whether the file was finished by a recovery. */
  recovered: boolean;
  /** Version of the events, as the session says; null before it has. */
  version: number | null;
}

interface Decoded {
  topic: string;
  /** Null of a channel that is not known here. */
  content: Record<string, unknown> | null;
  message: McapTypes.Message;
  /** Number of the event after it. */
  next: number;
}

const magic = Uint8Array.from(McapConstants.MCAP_MAGIC);
/** Opcode and length. */
const headBytes = 9;
const { Opcode } = McapConstants;
const footer: number = Opcode.FOOTER;
const dataEnd: number = Opcode.DATA_END;

/** Rejects with what the file system says; damage is a result. */
export async function scan(path: string): Promise<Scan> {
  await zstdReady;
  const file = await open(path, "r");
  try {
    return await new Scanner(file).run();
  } finally {
    await file.close();
  }
}

class Scanner {
  readonly #file: FileHandle;
  readonly #whole = createHash("sha256");
  readonly #data = createHash("sha256");
  readonly #reader = new McapStreamReader({ decompressHandlers, validateCrcs: true, includeChunks: true });
  readonly #schemas = new Map<number, McapTypes.Schema>();
  readonly #byId = new Map<number, McapTypes.Channel>();
  readonly #written = nothingWritten();
  readonly #summary = new EpisodeSummary();
  readonly #blobs = new Map<string, BlobRef>();
  #bytes = 0;
  #next = 0;
  #step = 0;
  #recovered = false;
  #version: number | null = null;
  /** What may come next. */
  #place: Place = "start";
  /** Once the data is over. */
  #repeated: SummaryCheck | null = null;
  /** Checksum of the summary so far. */
  #summaryCrc = crc32Init();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async run(): Promise<Scan> {
    const { size } = await this.#file.stat();
    const found = await this.#walk(size);
    // What is not whole belongs to the file's hash all the same.
    while (this.#bytes < size) {
      const rest = await this.#read(this.#bytes, Math.min(size - this.#bytes, pieceBytes));
      if (rest.byteLength === 0) break;
      this.#took(rest);
    }
    return {
      ...found,
      written: this.#written,
      hash: this.#data,
      sha256: this.#whole.digest("hex"),
      bytes: this.#bytes,
      summary: this.#summary,
      blobs: [...this.#blobs.values()],
      next: this.#next,
      step: this.#step,
      recovered: this.#recovered,
      version: this.#version,
    };
  }

  async #walk(size: number): Promise<Pick<Scan, "state" | "damage">> {
    const start = await this.#read(0, Math.min(magic.byteLength, size));
    if (!start.every((byte, at) => byte === magic[at])) return damage(0, "it does not begin as an MCAP file");
    if (start.byteLength < magic.byteLength) return { state: "cut", damage: null };
    this.#keep(start);
    this.#reader.append(start);
    for (;;) {
      const at = this.#bytes;
      if (this.#reader.done()) return size === at ? finished : damage(at, "bytes follow its end");
      const rest = size - at;
      if (rest === 0) return cut;
      const head = await this.#read(at, Math.min(headBytes, rest));
      const opcode = head[0] ?? 0;
      if (!belongs(opcode, this.#place))
        return damage(at, `a record of opcode ${opcode} has no place in ${placeNames[this.#place]}`);
      if (head.byteLength < headBytes) return cut;
      const length = head.readBigUInt64LE(1);
      if (length > BigInt(readLimits.recordBytes) * 2n)
        return damage(at, `a record says it has ${length} bytes`);
      const tail = opcode === footer ? magic.byteLength : 0;
      const whole = headBytes + Number(length) + tail;
      // A writer that was killed leaves the beginning of a record; one of the summary tells that it was at its end.
      if (whole > rest) return await this.#cutOrLost(at, size);
      const record = await this.#read(at, whole);
      try {
        this.#take(record, at, opcode);
      } catch (error) {
        const from = error instanceof DataFault ? 0 : at;
        return damage(from, `${named[opcode] ?? "a record"}: ${(error as Error).message}`);
      }
    }
  }

  /** Whoever was killed has not written the end of a file: where one is, the record's length is wrong. */
  async #cutOrLost(at: number, size: number): Promise<Pick<Scan, "state" | "damage">> {
    const end = await this.#read(size - magic.byteLength, magic.byteLength);
    return end.equals(magic) ? damage(at, "its length does not lead to the file's end") : cut;
  }

  #take(bytes: Buffer, at: number, opcode: number): void {
    const tail = opcode === footer ? magic.byteLength : 0;
    if (!isExact(opcode, bytes.subarray(headBytes, bytes.byteLength - tail)))
      throw new Error("its length is not that of what it holds");
    this.#reader.append(bytes);
    const records: McapTypes.TypedMcapRecord[] = [];
    for (let record = this.#reader.nextRecord(); record !== undefined; record = this.#reader.nextRecord())
      records.push(record.type === "Schema" ? { ...record, data: Uint8Array.from(record.data) } : record);
    if (this.#reader.bytesRemaining() > 0) throw new Error("its length is not that of what it holds");
    // Whatever is wrong shows here, before anything of the record is counted.
    if (this.#repeated !== null) {
      this.#summarized(records, bytes, at);
      return;
    }
    const events = this.#decoded(records);
    for (const record of records) {
      if (record.type === "Header") this.#header(record);
      else if (record.type === "Chunk") this.#chunk(record, events, at, bytes.byteLength);
      else if (record.type === "DataEnd") this.#dataEnd(record);
      else if (record.type === "Schema") this.#schemas.set(record.id, record);
      else if (record.type === "Channel") this.#channel(record);
    }
    for (const event of events) this.#event(event);
    if (opcode === dataEnd) this.#took(bytes);
    else this.#keep(bytes);
  }

  #dataEnd({ dataSectionCrc }: McapTypes.DataEnd): void {
    if (dataSectionCrc !== 0 && dataSectionCrc !== crc32Final(this.#written.crc))
      throw new DataFault(`the checksum of bytes 0 to ${this.#bytes} is another`);
    this.#place = "summary";
    this.#repeated = new SummaryCheck(this.#written);
  }

  /** A record of the summary. */
  #summarized(records: readonly McapTypes.TypedMcapRecord[], bytes: Buffer, at: number): void {
    for (const record of records) {
      const fault = this.#repeated?.fault(record) ?? null;
      if (fault !== null) throw new Error(fault);
      if (record.type === "Footer") this.#footer(record, bytes, at);
    }
    this.#summaryCrc = crc32Update(this.#summaryCrc, bytes);
    this.#took(bytes);
  }

  /** Each record before it has been held against the data: what is wrong now is wrong here. */
  #footer({ summaryStart, summaryCrc }: McapTypes.Footer, bytes: Buffer, at: number): void {
    const from = this.#written.length + headBytes + dataEndBytes;
    const expected = at === from ? [0n, BigInt(from)] : [BigInt(from)];
    if (!expected.includes(summaryStart)) throw new Error("the summary is not where it says");
    const checked = bytes.subarray(0, -magic.byteLength - 4);
    if (summaryCrc !== 0 && summaryCrc !== crc32Final(crc32Update(this.#summaryCrc, checked)))
      throw new Error("the checksum of the summary is another");
  }

  /** The record's events with their topics. Throws if one cannot be read, or does not follow the one before. */
  #decoded(records: readonly McapTypes.TypedMcapRecord[]): Decoded[] {
    const schemas = new Map([...this.#schemas].map(([id, { name }]) => [id, name]));
    const channels = new Map<number, { topic: string; schemaId: number }>(this.#byId);
    let next = this.#next;
    const events: Decoded[] = [];
    for (const record of records) {
      if (record.type === "Schema") schemas.set(record.id, record.name);
      if (record.type === "Channel") channels.set(record.id, record);
      if (record.type !== "Message") continue;
      const { topic, schemaId } = channels.get(record.channelId) ?? { topic: "", schemaId: 0 };
      const content = Object.hasOwn(payloads, topic)
        ? (decodePayload(record.data) as Record<string, unknown>)
        : null;
      if (content !== null && content["seq"] !== next)
        throw new Error(`event ${next} is missing: ${String(content["seq"])} follows`);
      // A later channel of the format takes part in the numbering, a stranger's does not.
      if (content !== null || schemas.get(schemaId)?.startsWith(schemaPrefix) === true) next += 1;
      events.push({ topic, content, message: record, next });
    }
    return events;
  }

  #header({ profile }: McapTypes.Header): void {
    if (profile !== sknProfile)
      throw new Error(`its profile is ${JSON.stringify(profile)}, not ${sknProfile}`);
    this.#place = "data";
  }

  #channel(channel: McapTypes.Channel): void {
    const copy = { ...channel };
    this.#byId.set(channel.id, copy);
    this.#written.channels.set(channel.topic, {
      channel: copy,
      schema: this.#schemas.get(channel.schemaId) ?? null,
    });
  }

  #event({ topic, content, message, next }: Decoded): void {
    const { counts, first, last } = this.#written;
    const { channelId, logTime } = message;
    if (content !== null) this.#note(topic as Channel, content);
    this.#next = next;
    counts.set(channelId, (counts.get(channelId) ?? 0) + 1);
    if (first === null || logTime < first) this.#written.first = logTime;
    if (logTime > last) this.#written.last = logTime;
  }

  #note(channel: Channel, event: Record<string, unknown>): void {
    const step = typeof event["step"] === "number" ? event["step"] : this.#step;
    this.#step = step;
    this.#summary.note(channel, step, event);
    if (channel === "session" && typeof event["skn"] === "number") this.#version = event["skn"];
    if (channel === "marker" && event["kind"] === "recovered") this.#recovered = true;
    mapLeaves(event, (_path, value) => {
      if (value instanceof BlobRef) {
        this.#blobs.set(`${value.kind} ${value.sha256}`, value);
        this.#summary.refersTo(value.sha256);
      }
      return value;
    });
  }

  #chunk(chunk: McapTypes.Chunk, events: readonly Decoded[], at: number, length: number): void {
    const messages = events.map(({ message }) => message);
    const fault = chunkFault(chunk, messages);
    if (fault !== null) throw new Error(fault);
    this.#written.chunks.push({
      messageStartTime: chunk.messageStartTime,
      messageEndTime: chunk.messageEndTime,
      chunkStartOffset: BigInt(at),
      chunkLength: BigInt(length),
      messageIndexOffsets: noMessageIndexes,
      messageIndexLength: 0n,
      compression: chunk.compression,
      compressedSize: BigInt(chunk.records.byteLength),
      uncompressedSize: chunk.uncompressedSize,
    });
  }

  /** Whole data: a recovery keeps it. */
  #keep(bytes: Uint8Array): void {
    this.#took(bytes);
    this.#data.update(bytes);
    this.#written.length += bytes.byteLength;
    this.#written.crc = crc32Update(this.#written.crc, bytes);
  }

  #took(bytes: Uint8Array): void {
    this.#whole.update(bytes);
    this.#bytes += bytes.byteLength;
  }

  async #read(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const { bytesRead } = await this.#file.read(bytes, read, length - read, at + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return bytes.subarray(0, read);
  }
}

const pieceBytes = 1024 * 1024;
const finished = { state: "finished", damage: null } as const;
const cut = { state: "cut", damage: null } as const;

function damage(at: number, what: string): Pick<Scan, "state" | "damage"> {
  return { state: "damaged", damage: { at, what } };
}

const named: Record<number, string> = {
  [Opcode.HEADER]: "the header",
  [Opcode.CHUNK]: "a chunk",
  [Opcode.DATA_END]: "the end of the data",
  [Opcode.SCHEMA]: "the summary",
  [Opcode.CHANNEL]: "the summary",
  [Opcode.STATISTICS]: "the summary",
  [Opcode.CHUNK_INDEX]: "the summary",
  [Opcode.FOOTER]: "the footer",
};

const placeNames: Record<Place, string> = {
  start: "a file's beginning",
  data: "the data",
  summary: "the summary",
};

/** Bytes of the data's end, without opcode and length. */
const dataEndBytes = 4;

/** Something in the data is not as it was written, and no record of it tells. */
class DataFault extends Error {}
