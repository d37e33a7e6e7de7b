/** A picture's bytes to pixels. What reads a format is loaded when first needed. */
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { ContentFault, type Picture } from "../../value.js";
import { type ImageFormat, type ImageHeader, readHeader } from "./header.js";
import { refusePngBomb } from "./png.js";

/** Pixels of a picture; 4096 by 4096. */
export const PIXEL_LIMIT = 16_777_216;
/** MiB that the JPEG decoder may take for its own tables. */
const JPEG_MEMORY_MIB = 512;

interface Decoded {
  width: number;
  height: number;
  /** Red, green, blue and alpha of each pixel, row by row from the top. */
  data: Uint8Array;
}

const require = createRequire(import.meta.url);

async function decodePng(bytes: Uint8Array, header: ImageHeader): Promise<Decoded> {
  refusePngBomb(bytes, header);
  const { PNG } = await import("pngjs");
  return PNG.sync.read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

async function decodeJpeg(bytes: Uint8Array): Promise<Decoded> {
  const { default: jpeg } = await import("jpeg-js");
  return jpeg.decode(bytes, {
    useTArray: true,
    tolerantDecoding: false,
    maxResolutionInMP: PIXEL_LIMIT / 1e6,
    maxMemoryUsageInMB: JPEG_MEMORY_MIB,
  });
}

async function decodeGif(bytes: Uint8Array): Promise<Decoded> {
  const { decodeFirstFrame } = await import("./gif.js");
  return decodeFirstFrame(bytes);
}

/** A bitmap is opaque: what its fourth byte means is not agreed upon. */
async function decodeBmp(bytes: Uint8Array): Promise<Decoded> {
  const { decode } = await import("bmp-ts");
  const { width, height, data } = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  for (let at = 0; at < data.length; at += 4) {
    const [, blue = 0, green = 0, red = 0] = data.subarray(at, at + 4);
    data[at] = red;
    data[at + 1] = green;
    data[at + 2] = blue;
    data[at + 3] = 255;
  }
  return { width, height, data };
}

interface WasmModules {
  compile(bytes: Uint8Array): Promise<object>;
}
const wasm = (globalThis as unknown as { WebAssembly: WasmModules }).WebAssembly;
let webpCode: Promise<object> | undefined;

async function decodeWebp(bytes: Uint8Array): Promise<Decoded> {
  const { default: decode, init } = await import("@jsquash/webp/decode.js");
  const file = require.resolve("@jsquash/webp/codec/dec/webp_dec.wasm");
  webpCode ??= readFile(file).then((code) => wasm.compile(code));
  // An instance that no other picture has touched; only the compiled code is shared.
  await (init as (code: object) => Promise<void>)(await webpCode);
  const decoded = (await decode(Uint8Array.from(bytes).buffer)) as Decoded;
  return { ...decoded, data: new Uint8Array(decoded.data) };
}

const decoders: Readonly<Record<ImageFormat, (bytes: Uint8Array, header: ImageHeader) => Promise<Decoded>>> =
  {
    png: decodePng,
    jpeg: decodeJpeg,
    gif: decodeGif,
    bmp: decodeBmp,
    webp: decodeWebp,
  };

/** Rejects with `ContentFault` for what is no picture, damaged or larger than `PIXEL_LIMIT`. */
export async function decodeImage(bytes: Uint8Array, what: string): Promise<Picture> {
  const header = readHeader(bytes);
  if (header === null) throw new ContentFault(`${what} is no PNG, JPEG, GIF, BMP or WebP picture`);
  const { format, width, height, channels } = header;
  if (width * height > PIXEL_LIMIT)
    throw new ContentFault(`${what} is ${width} x ${height}, more than ${PIXEL_LIMIT} pixels`);
  let decoded: Decoded;
  try {
    decoded = await decoders[format](bytes, header);
    if (decoded.width !== width || decoded.height !== height || width * height === 0)
      throw new Error(`it has no ${width} x ${height} pixels`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ContentFault(`${what} cannot be decoded as ${format.toUpperCase()}: ${why}`);
  }
  const pixels = Uint8Array.from(decoded.data.subarray(0, width * height * 4));
  return { format, width, height, channels, pixels };
}
