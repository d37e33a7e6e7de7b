/** From a file's bytes to the records that matter: header, schemas, channels, messages, chunks unpacked; and how the file ends. */
import { crc32 } from "@foxglove/crc";
import { ShinkenError } from "../../errors/index.js";
import { readLimits, sknProfile } from "../format/version.js";
import { decompress, zstdReady } from "../format/zstd.js";
import {
  type ChannelRecord,
  type ChunkRecord,
  headBytes,
  magic,
  type MessageRecord,
  opcodes,
  parseChannel,
  parseChunk,
  parseDataEnd,
  parseFooter,
  parseHeader,
  parseMessage,
  parseSchema,
  recordsIn,
  type SchemaRecord,
} from "./records.js";
import { finishedCrc, Source } from "./source.js";

export type DataRecord =
  | { type: "schema"; record: SchemaRecord }
  | { type: "channel"; record: ChannelRecord }
  | { type: "message"; record: MessageRecord };

/** How the reading of a file ended. */
export interface FileEnd {
  /** False: no end was found; the writer was killed, or is still at work. */
  finished: boolean;
  /** Of the file as read, in hex. */
  sha256: string;
  bytes: number;
  /** What wrote the file. */
  library: string;
}

/**
 * The records of a bundle's data, in order. `at` is told the offset of each outer record.
 * @throws ShinkenError `bad_bundle` for damage, or a file of another kind.
 */
export async function* walk(
  path: string,
  at: (offset: number) => void,
): AsyncGenerator<DataRecord, FileEnd, undefined> {
  await zstdReady;
  const source = await Source.open(path);
  try {
    const walker = new Walker(source);
    for (;;) {
      at(source.at);
      const records = await guarded(path, source.at, () => walker.next());
      if (records === null) break;
      // Generators of generators cost more than a list of a chunk's records.
      yield* guardedEach(path, source.at, records);
    }
    const { library, finished } = walker;
    return { finished, sha256: await source.sha256(), bytes: source.size, library: library ?? "" };
  } finally {
    await source.close();
  }
}

/** What goes wrong in there is damage of the file. */
async function guarded<T>(path: string, at: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw damaged(path, at, cause);
  }
}

function* guardedEach<T>(path: string, at: number, items: Iterable<T>): Generator<T, void, undefined> {
  const iterator = items[Symbol.iterator]();
  for (;;) {
    let item: IteratorResult<T, unknown>;
    try {
      item = iterator.next();
    } catch (cause) {
      throw damaged(path, at, cause);
    }
    if (item.done === true) return;
    yield item.value;
  }
}

/** `at`: offset of the record of which something is wrong. */
export function damaged(path: string, at: number, why: unknown): ShinkenError {
  const reason = why instanceof Error ? why.message : String(why);
  return new ShinkenError("bad_bundle", `${path} is damaged at byte ${at}: ${reason}`, {
    path,
    suggestion: "shinken replay recover saves what is whole",
    ...(why instanceof Error ? { cause: why } : {}),
  });
}

class Walker {
  library: string | null = null;
  finished = false;
  readonly #source: Source;
  #begun = false;
  /** Offset of the summary, once the data has ended. */
  #summaryAt: number | null = null;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The next record's data records; null at the end of the file. Throws an Error that says what is wrong. */
  async next(): Promise<Iterable<DataRecord> | null> {
    if (!this.#begun) await this.#begin();
    const source = this.#source;
    const before = source.crc;
    const head = await source.take(headBytes);
    const afterHead = source.crc;
    const length = head === null ? 0n : head.readBigUInt64LE(1);
    const opcode = head?.[0] ?? 0;
    if (length > BigInt(readLimits.recordBytes)) throw new Error(`a record says it has ${length} bytes`);
    const body = head === null ? null : await source.take(Number(length));
    if (body === null) return this.#cut();
    if (this.library === null && opcode !== opcodes.header)
      throw new Error("it does not begin with a header");
    if (opcode === opcodes.dataEnd) return this.#dataEnd(body, before);
    if (opcode === opcodes.footer) return this.#footer(body, afterHead);
    if (opcode === opcodes.header) return this.#header(body);
    // The summary repeats what the data has said.
    if (this.#summaryAt !== null) return [];
    return opcode === opcodes.chunk ? dataIn(unpack(parseChunk(body))) : dataOf(opcode, body);
  }

  async #begin(): Promise<void> {
    this.#begun = true;
    const start = await this.#source.take(magic.byteLength);
    if (start === null) throw new Error("it ends before its header");
    if (!start.equals(magic)) throw new Error("it does not begin as an MCAP file");
  }

  /** Whoever was killed has not written the end of a file: where one is, some length on the way to it is wrong. */
  async #cut(): Promise<null> {
    if (this.library === null) throw new Error("it ends before its header");
    if ((await this.#source.tail(magic.byteLength)).equals(magic))
      throw new Error("the records from here do not lead to the file's end");
    return null;
  }

  #header(body: Buffer): [] {
    if (this.library !== null) throw new Error("it has two headers");
    const { profile, library } = parseHeader(body);
    if (profile !== sknProfile)
      throw new Error(`it is an MCAP file of profile ${JSON.stringify(profile)}, not ${sknProfile}`);
    this.library = library;
    return [];
  }

  #dataEnd(body: Buffer, before: number): [] {
    if (this.#summaryAt !== null) throw new Error("its data ends twice");
    const { crc } = parseDataEnd(body);
    if (crc !== 0 && crc !== finishedCrc(before)) throw new Error("the checksum of its data is another");
    this.#summaryAt = this.#source.at;
    this.#source.restartCrc();
    return [];
  }

  async #footer(body: Buffer, afterHead: number): Promise<null | []> {
    const { summaryStart, checked, crc } = parseFooter(body);
    if (this.#summaryAt === null) throw new Error("its data has no end");
    if (summaryStart !== 0n && summaryStart !== BigInt(this.#summaryAt))
      throw new Error("its summary is not where it should be");
    if (crc !== 0 && crc !== finishedCrc(afterHead, checked))
      throw new Error("the checksum of its summary is another");
    const end = await this.#source.take(magic.byteLength);
    if (end === null) return this.#cut();
    if (!end.equals(magic)) throw new Error("it does not end as an MCAP file");
    if (this.#source.left > 0) throw new Error("bytes follow its end");
    this.finished = true;
    return null;
  }
}

/** Records that tell nothing in their place are skipped, as unknown ones are. */
function dataOf(opcode: number, body: Buffer): DataRecord[] {
  switch (opcode) {
    case opcodes.schema:
      return [{ type: "schema", record: parseSchema(body) }];
    case opcodes.channel:
      return [{ type: "channel", record: parseChannel(body) }];
    case opcodes.message:
      return [{ type: "message", record: parseMessage(body) }];
    default:
      return [];
  }
}

function* dataIn(chunk: Buffer): Generator<DataRecord, void, undefined> {
  for (const { opcode, body } of recordsIn(chunk)) yield* dataOf(opcode, body);
}

function unpack({ compression, records, uncompressedSize, uncompressedCrc }: ChunkRecord): Buffer {
  if (uncompressedSize > BigInt(readLimits.recordBytes))
    throw new Error(`a chunk says it unpacks to ${uncompressedSize} bytes`);
  const size = Number(uncompressedSize);
  let bytes: Uint8Array = records;
  if (compression === "zstd") bytes = decompress(records, size, readLimits.recordBytes);
  else if (compression !== "") throw new Error(`chunks are not compressed by ${JSON.stringify(compression)}`);
  if (bytes.byteLength !== size) throw new Error(`a chunk has ${bytes.byteLength} bytes, not ${size}`);
  if (uncompressedCrc !== 0 && crc32(bytes) !== uncompressedCrc)
    throw new Error("the checksum of a chunk is another");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
