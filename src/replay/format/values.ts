/** Values in payloads that stand for others: content beside the bundle, and texts told as changes of an earlier one. */
import { ExtensionCodec } from "@msgpack/msgpack";
import { ShinkenError } from "../../errors/index.js";

/** Msgpack extension types of the format. */
export const blobExtension = 1;
export const deltaExtension = 2;

/** Content that lies in the blob folder under its hash. */
export class BlobRef {
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly kind: "text" | "bytes";

  constructor(sha256: string, bytes: number, kind: "text" | "bytes") {
    this.sha256 = sha256;
    this.bytes = bytes;
    this.kind = kind;
  }
}

/** A text that begins and ends as the one at the same place of the observation before. UTF-16 code units. */
export class TextDelta {
  readonly prefix: number;
  readonly suffix: number;
  readonly middle: string;

  constructor(prefix: number, suffix: number, middle: string) {
    this.prefix = prefix;
    this.suffix = suffix;
    this.middle = middle;
  }
}

/** Bytes of an encoded reference: hash, size, kind. */
const refBytes = 32 + 8 + 1;

/** The codec of all payloads. */
export const values = new ExtensionCodec();

values.register({
  type: blobExtension,
  encode(value: unknown) {
    if (!(value instanceof BlobRef)) return null;
    const bytes = Buffer.alloc(refBytes);
    bytes.write(value.sha256, 0, "hex");
    bytes.writeBigUInt64BE(BigInt(value.bytes), 32);
    bytes[40] = value.kind === "text" ? 1 : 0;
    return bytes;
  },
  decode(data: Uint8Array) {
    if (data.byteLength !== refBytes) throw badValue("a reference to a blob");
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const size = bytes.readBigUInt64BE(32);
    if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw badValue("a reference to a blob");
    return new BlobRef(bytes.toString("hex", 0, 32), Number(size), bytes[40] === 1 ? "text" : "bytes");
  },
});

values.register({
  type: deltaExtension,
  encode(value: unknown) {
    if (!(value instanceof TextDelta)) return null;
    const middle = Buffer.from(value.middle, "utf8");
    const bytes = Buffer.alloc(8 + middle.byteLength);
    bytes.writeUInt32BE(value.prefix, 0);
    bytes.writeUInt32BE(value.suffix, 4);
    middle.copy(bytes, 8);
    return bytes;
  },
  decode(data: Uint8Array) {
    if (data.byteLength < 8) throw badValue("a change of a text");
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    return new TextDelta(bytes.readUInt32BE(0), bytes.readUInt32BE(4), bytes.toString("utf8", 8));
  },
});

function badValue(what: string): ShinkenError {
  return new ShinkenError("bad_bundle", `${what} is malformed`);
}
