/**
 * MCAP records, strictly: each field ends within its record, each text is UTF-8. Two readers that agree on a file's damage need
 * that; stream readers in general differ there. The layouts are MCAP's, all numbers with the least significant byte first.
 */
import { McapConstants } from "@mcap/core";
import { fromUtf8 } from "../format/text.js";

/** Of the records that tell something. */
export const opcodes = {
  header: 1,
  footer: 2,
  schema: 3,
  channel: 4,
  message: 5,
  chunk: 6,
  dataEnd: 15,
} as const;
export const magic = Buffer.from(McapConstants.MCAP_MAGIC);

/** Before each record: its opcode, and its length in 8 bytes. */
export const headBytes = 9;

export interface SchemaRecord {
  id: number;
  name: string;
  encoding: string;
  data: Uint8Array;
}

export interface ChannelRecord {
  id: number;
  /** 0: none. */
  schemaId: number;
  topic: string;
  messageEncoding: string;
  metadata: Map<string, string>;
}

export interface MessageRecord {
  channelId: number;
  sequence: number;
  /** Nanoseconds since 1970. */
  logTime: bigint;
  data: Buffer;
}

export interface ChunkRecord {
  uncompressedSize: bigint;
  /** 0: none. */
  uncompressedCrc: number;
  compression: string;
  records: Buffer;
}

export function parseHeader(body: Buffer): { profile: string; library: string } {
  const fields = new Fields(body);
  return { profile: fields.text(), library: fields.text() };
}

export function parseSchema(body: Buffer): SchemaRecord {
  const fields = new Fields(body);
  const [id, name, encoding] = [fields.u16(), fields.text(), fields.text()];
  return { id, name, encoding, data: Uint8Array.from(fields.bytes(fields.u32())) };
}

export function parseChannel(body: Buffer): ChannelRecord {
  const fields = new Fields(body);
  const [id, schemaId, topic, messageEncoding] = [fields.u16(), fields.u16(), fields.text(), fields.text()];
  const entries = new Fields(fields.bytes(fields.u32()));
  const metadata = new Map<string, string>();
  while (entries.left > 0) metadata.set(entries.text(), entries.text());
  return { id, schemaId, topic, messageEncoding, metadata };
}

export function parseMessage(body: Buffer): MessageRecord {
  const fields = new Fields(body);
  const [channelId, sequence, logTime] = [fields.u16(), fields.u32(), fields.u64()];
  fields.u64();
  return { channelId, sequence, logTime, data: fields.bytes(fields.left) };
}

export function parseChunk(body: Buffer): ChunkRecord {
  const fields = new Fields(body);
  fields.bytes(16);
  const [uncompressedSize, uncompressedCrc, compression] = [fields.u64(), fields.u32(), fields.text()];
  return { uncompressedSize, uncompressedCrc, compression, records: fields.bytes(fields.size()) };
}

export function parseDataEnd(body: Buffer): { crc: number } {
  return { crc: new Fields(body).u32() };
}

/** `summaryStart`: offset in the file, 0 where there is no summary. The checksum reaches to the end of `checked`. */
export function parseFooter(body: Buffer): { summaryStart: bigint; checked: Buffer; crc: number } {
  const fields = new Fields(body);
  const summaryStart = fields.u64();
  fields.u64();
  return { summaryStart, checked: body.subarray(0, 16), crc: fields.u32() };
}

/** The records of an unpacked chunk. */
export function* recordsIn(chunk: Buffer): Generator<{ opcode: number; body: Buffer }, void, undefined> {
  const fields = new Fields(chunk);
  while (fields.left > 0) yield { opcode: fields.u8(), body: fields.bytes(fields.size()) };
}

class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at;
  }

  u8(): number {
    return this.bytes(1).readUInt8();
  }

  u16(): number {
    return this.bytes(2).readUInt16LE();
  }

  u32(): number {
    return this.bytes(4).readUInt32LE();
  }

  u64(): bigint {
    return this.bytes(8).readBigUInt64LE();
  }

  /** A length in 8 bytes; it never gets larger than a number can say, as `bytes` refuses it. */
  size(): number {
    return Number(this.u64());
  }

  text(): string {
    const text = fromUtf8(this.bytes(this.u32()));
    if (text === null) throw new Error("a text in a record is not UTF-8");
    return text;
  }

  bytes(length: number): Buffer {
    if (length > this.left) throw new Error("a field reaches beyond its record");
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }
}
