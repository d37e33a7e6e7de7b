/** Values in payloads that stand for others: content beside the bundle, changes of an earlier text, texts that UTF-8 cannot say. */
import { ExtensionCodec } from "@msgpack/msgpack";
import { fromUtf16, fromUtf8, toUtf16 } from "./text.js";

/** Msgpack extension types of the format. */
export const blobExtension = 1;
export const deltaExtension = 2;
export const utf16Extension = 3;

/** What the content of a blob is. The order is that of the numbers in the file. */
export const blobKinds = ["bytes", "text", "utf16"] as const;
export type BlobKind = (typeof blobKinds)[number];

/** Content that lies in the blob folder under its hash. */
export class BlobRef {
  /** SHA-256 of the content, in hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly kind: BlobKind;

  constructor(sha256: string, bytes: number, kind: BlobKind) {
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

/** A text with lone surrogates, on its way into a file; readers give the text itself. */
export class Utf16Text {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An extension value of a type that this program does not know: kept. */
export class UnknownExtension {
  readonly type: number;
  readonly data: Uint8Array;

  constructor(type: number, data: Uint8Array) {
    this.type = type;
    this.data = data;
  }
}

/** Bytes of an encoded reference: hash, size, kind. */
const refBytes = 32 + 8 + 1;

/** For the encoder of payloads. Decoding is `decodeExtension`'s. */
export const values = new ExtensionCodec();

values.register({
  type: blobExtension,
  encode(value: unknown) {
    if (!(value instanceof BlobRef)) return null;
    const bytes = Buffer.alloc(refBytes);
    bytes.write(value.sha256, 0, "hex");
    bytes.writeBigUInt64BE(BigInt(value.bytes), 32);
    bytes[40] = blobKinds.indexOf(value.kind);
    return bytes;
  },
  decode: (data) => decodeExtension(blobExtension, data),
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
  decode: (data) => decodeExtension(deltaExtension, data),
});

values.register({
  type: utf16Extension,
  encode: (value: unknown) => (value instanceof Utf16Text ? toUtf16(value.text) : null),
  decode: (data) => decodeExtension(utf16Extension, data),
});

/** The value of an extension. Throws an Error that says what is malformed. */
export function decodeExtension(type: number, data: Uint8Array): unknown {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  switch (type) {
    case blobExtension: {
      const kind = blobKinds[bytes[40] ?? blobKinds.length];
      if (bytes.byteLength !== refBytes || kind === undefined)
        throw new Error("a reference to a blob is malformed");
      const size = bytes.readBigUInt64BE(32);
      if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error("a reference to a blob is malformed");
      return new BlobRef(bytes.toString("hex", 0, 32), Number(size), kind);
    }
    case deltaExtension: {
      const middle = bytes.byteLength < 8 ? null : fromUtf8(bytes.subarray(8));
      if (middle === null) throw new Error("a change of a text is malformed");
      return new TextDelta(bytes.readUInt32BE(0), bytes.readUInt32BE(4), middle);
    }
    case utf16Extension: {
      const text = fromUtf16(bytes);
      if (text === null) throw new Error("a text in UTF-16 is malformed");
      return text;
    }
    default:
      // Msgpack's own, such as its times, do not occur: two libraries give two kinds of value for them.
      if (type < 0) throw new Error(`there is no extension type ${type}`);
      return new UnknownExtension(type, Uint8Array.from(data));
  }
}
