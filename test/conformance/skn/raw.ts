/** Builds MCAP files record by record, right checksums included, whatever their content. */
import { crc32 } from "@foxglove/crc";
import { McapChunkBuilder, McapConstants, McapRecordBuilder } from "@mcap/core";
import { Encoder } from "@msgpack/msgpack";
import { values } from "../../../src/replay/format/values.js";
import { compress } from "../../../src/replay/format/zstd.js";

export interface RawMessage {
  channel: number;
  data: Uint8Array;
}

export interface RawChannel {
  topic: string;
  /** Its schema's name; none if unsaid. */
  schema?: string;
  encoding?: string;
}

export interface RawChunk {
  records: Uint8Array;
  compression: string;
  uncompressedSize: bigint;
  uncompressedCrc: number;
}

const encoder = new Encoder({ extensionCodec: values, maxDepth: 1_000 });

export function pack(value: unknown): Uint8Array {
  return encoder.encode(value);
}

/** A chunk with the channels, numbered from 1, and the messages. */
export function chunkOf(channels: readonly RawChannel[], messages: readonly RawMessage[]): Buffer {
  const chunk = new McapChunkBuilder({ useMessageIndex: false });
  for (const [index, { topic, schema, encoding }] of channels.entries()) {
    const id = index + 1;
    if (schema !== undefined)
      chunk.addSchema({ id, name: schema, encoding: "jsonschema", data: Buffer.from("{}") });
    chunk.addChannel({
      id,
      schemaId: schema === undefined ? 0 : id,
      topic,
      messageEncoding: encoding ?? "msgpack",
      metadata: new Map(),
    });
  }
  for (const [sequence, { channel, data }] of messages.entries())
    chunk.addMessage({ channelId: channel, sequence, logTime: 0n, publishTime: 0n, data });
  return Buffer.from(chunk.buffer);
}

export function plainChunk(records: Uint8Array): RawChunk {
  const [uncompressedSize, uncompressedCrc] = [BigInt(records.byteLength), crc32(records)];
  return { records, compression: "", uncompressedSize, uncompressedCrc };
}

export function zstdChunk(records: Uint8Array): RawChunk {
  return { ...plainChunk(records), records: compress(records), compression: "zstd" };
}

/** The whole file; `raw` are records as they are, before the chunks. */
export function fileOf(
  chunks: readonly RawChunk[],
  {
    profile = "skn",
    raw = new Uint8Array(0),
    dataEnd = true,
  }: { profile?: string; raw?: Uint8Array; dataEnd?: boolean } = {},
): Buffer {
  const head = new McapRecordBuilder();
  head.writeMagic();
  head.writeHeader({ profile, library: "conformance/raw" });
  const body = new McapRecordBuilder();
  for (const chunk of chunks) body.writeChunk({ ...chunk, messageStartTime: 0n, messageEndTime: 0n });
  const data = Buffer.concat([head.buffer, raw, body.buffer]);
  const tail = new McapRecordBuilder();
  if (dataEnd) tail.writeDataEnd({ dataSectionCrc: crc32(data) });
  const footerAt = tail.length;
  tail.writeFooter({ summaryStart: 0n, summaryOffsetStart: 0n, summaryCrc: 0 });
  const end = Buffer.from(tail.buffer);
  end.writeUInt32LE(crc32(end.subarray(footerAt, -4)), end.byteLength - 4);
  return Buffer.concat([data, end, Uint8Array.from(McapConstants.MCAP_MAGIC)]);
}

/** A record with any opcode and body; `length` where it lies. */
export function recordOf(opcode: number, body: Uint8Array, length = BigInt(body.byteLength)): Buffer {
  const head = Buffer.alloc(9);
  head[0] = opcode;
  head.writeBigUInt64LE(length, 1);
  return Buffer.concat([head, body]);
}
