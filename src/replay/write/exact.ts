/**
 * Records of a bundle held against themselves and against each other, so that what no checksum of theirs covers is found where it stands:
 * which records may be where, whether a record's fields fill it to the byte, and whether the summary repeats what the data said.
 * Readers skip what they do not know; this is for who looks for damage. Layouts are MCAP's, docs/skn.md ("Container") says what is where.
 */
import { McapConstants, type McapTypes } from "@mcap/core";
import type { Written } from "./bundle-writer.js";

const { Opcode } = McapConstants;

/** Opcodes of a bundle: of its first record, of its data, and of its summary. */
const places: Record<Place, ReadonlySet<number>> = {
  start: new Set<number>([Opcode.HEADER]),
  data: new Set<number>([Opcode.CHUNK, Opcode.DATA_END]),
  summary: new Set<number>([
    Opcode.SCHEMA,
    Opcode.CHANNEL,
    Opcode.STATISTICS,
    Opcode.CHUNK_INDEX,
    Opcode.FOOTER,
  ]),
};

export type Place = "start" | "data" | "summary";

/** Whether a bundle has records of the opcode there. */
export function belongs(opcode: number, place: Place): boolean {
  return places[place].has(opcode);
}

/** A field of a record: bytes of a fixed length, or a length in 4 or 8 bytes and so many more. */
type Field = { fixed: number } | { sized: 4 | 8 };

const text: Field = { sized: 4 };
const fixed = (bytes: number): Field => ({ fixed: bytes });
const layouts: Record<number, readonly Field[]> = {
  [Opcode.HEADER]: [text, text],
  [Opcode.SCHEMA]: [fixed(2), text, text, { sized: 4 }],
  [Opcode.CHANNEL]: [fixed(4), text, text, { sized: 4 }],
  [Opcode.CHUNK]: [fixed(28), text, { sized: 8 }],
  [Opcode.DATA_END]: [fixed(4)],
  [Opcode.STATISTICS]: [fixed(42), { sized: 4 }],
  [Opcode.CHUNK_INDEX]: [fixed(32), { sized: 4 }, fixed(8), text, fixed(16)],
  [Opcode.FOOTER]: [fixed(20)],
};

/** Whether the fields that MCAP gives such a record fill the body to its last byte. */
export function isExact(opcode: number, body: Buffer): boolean {
  let at = 0;
  for (const field of layouts[opcode] ?? []) {
    if ("fixed" in field) at += field.fixed;
    else {
      if (at + field.sized > body.byteLength) return false;
      at += field.sized + Number(field.sized === 4 ? body.readUInt32LE(at) : body.readBigUInt64LE(at));
    }
  }
  return at === body.byteLength;
}

/** What a chunk says of itself that its checksum does not cover; null if that is right. */
export function chunkFault(
  chunk: McapTypes.Chunk,
  messages: readonly Pick<McapTypes.Message, "logTime">[],
): string | null {
  // How much a compressed one unpacks to shows where it is unpacked.
  if (chunk.compression === "" && chunk.uncompressedSize !== BigInt(chunk.records.byteLength))
    return `it has ${chunk.records.byteLength} bytes, not ${chunk.uncompressedSize}`;
  const times = messages.map(({ logTime }) => logTime);
  const [first = 0n] = times;
  const earliest = times.reduce((least, time) => (time < least ? time : least), first);
  const latest = times.reduce((most, time) => (time > most ? time : most), first);
  const agree = chunk.messageStartTime === earliest && chunk.messageEndTime === latest;
  return agree ? null : "its times are not those of its messages";
}

/** The statistics that belong to what was written. */
export function statisticsOf({ channels, chunks, counts, first, last }: Written): McapTypes.Statistics {
  return {
    messageCount: BigInt([...counts.values()].reduce((sum, one) => sum + one, 0)),
    schemaCount: [...channels.values()].filter(({ schema }) => schema !== null).length,
    channelCount: channels.size,
    attachmentCount: 0,
    metadataCount: 0,
    chunkCount: chunks.length,
    messageStartTime: first ?? 0n,
    messageEndTime: last,
    channelMessageCounts: new Map([...counts].map(([id, count]) => [id, BigInt(count)])),
  };
}

/** Holds the records of a summary against the data, one after the other. */
export class SummaryCheck {
  readonly #written: Written;
  #chunks = 0;

  constructor(written: Written) {
    this.#written = written;
  }

  /** What is wrong with the record; null if it says what the data said. */
  fault(record: McapTypes.TypedMcapRecord): string | null {
    const known = [...this.#written.channels.values()];
    switch (record.type) {
      case "Schema":
        return known.some(({ schema }) => schema !== null && same(schema, record))
          ? null
          : "no such schema was in the data";
      case "Channel":
        return known.some(({ channel }) => same(channel, record)) ? null : "no such channel was in the data";
      case "Statistics":
        return same(statisticsOf(this.#written), record) ? null : "it counts otherwise than the data";
      case "ChunkIndex": {
        const chunk = this.#written.chunks[this.#chunks++];
        return chunk !== undefined && same(chunk, record) ? null : "no such chunk was in the data";
      }
      default:
        return null;
    }
  }
}

/** Whether a record's fields are those; a record that was read has others beside them. */
function same<T extends object>(fields: T, record: T): boolean {
  return Object.keys(fields).every(
    (name) => plain(fields[name as keyof T]) === plain(record[name as keyof T]),
  );
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === "bigint") return `${part}`;
    if (part instanceof Map) return [...part].sort();
    return part instanceof Uint8Array ? Buffer.from(part).toString("base64") : part;
  });
}
