/** What a picture's first bytes say: its format and size, before anything is decoded. */
export type ImageFormat = "png" | "jpeg" | "gif" | "bmp" | "webp";

export interface ImageHeader {
  format: ImageFormat;
  width: number;
  height: number;
  /** 1 grey, 2 grey with alpha, 3 colour, 4 colour with alpha or four inks. */
  channels: number;
}

type Reader = (view: DataView) => Omit<ImageHeader, "format"> | null;

const PNG_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 };

const ascii = (view: DataView, at: number, length: number): string =>
  String.fromCharCode(...Array.from({ length }, (_, index) => view.getUint8(at + index)));

const readPng: Reader = (view) => {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || ascii(view, 12, 4) !== "IHDR")
    return null;
  return {
    width: view.getUint32(16),
    height: view.getUint32(20),
    channels: PNG_CHANNELS[view.getUint8(25)] ?? 0,
  };
};

/** Markers of a frame's header: C0 to CF without the tables among them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

const readJpeg: Reader = (view) => {
  if (view.getUint16(0) !== 0xffd8) return null;
  let at = 2;
  for (;;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at += 1;
    else if (isFrame(marker)) break;
    else at += 2 + view.getUint16(at + 2);
  }
  return { height: view.getUint16(at + 5), width: view.getUint16(at + 7), channels: view.getUint8(at + 9) };
};

const readGif: Reader = (view) =>
  /^GIF8[79]a$/.test(ascii(view, 0, 6))
    ? { width: view.getUint16(6, true), height: view.getUint16(8, true), channels: 3 }
    : null;

const readBmp: Reader = (view) =>
  ascii(view, 0, 2) === "BM" && view.getUint32(14, true) >= 40
    ? { width: view.getUint32(18, true), height: Math.abs(view.getInt32(22, true)), channels: 3 }
    : null;

const uint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) | (view.getUint8(at + 2) << 16);

const readWebp: Reader = (view) => {
  if (ascii(view, 0, 4) !== "RIFF" || ascii(view, 8, 4) !== "WEBP") return null;
  switch (ascii(view, 12, 4)) {
    case "VP8 ":
      return {
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
        channels: 3,
      };
    case "VP8L": {
      const bits = view.getUint32(21, true);
      return {
        width: (bits & 0x3fff) + 1,
        height: ((bits >> 14) & 0x3fff) + 1,
        channels: (bits >>> 28) & 1 ? 4 : 3,
      };
    }
    case "VP8X":
      return {
        width: uint24(view, 24) + 1,
        height: uint24(view, 27) + 1,
        channels: view.getUint8(20) & 0x10 ? 4 : 3,
      };
    default:
      return null;
  }
};

const readers: Readonly<Record<ImageFormat, Reader>> = {
  png: readPng,
  jpeg: readJpeg,
  gif: readGif,
  bmp: readBmp,
  webp: readWebp,
};

/** The header of the format whose signature the bytes bear, or null. */
export function readHeader(bytes: Uint8Array): ImageHeader | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const [format, read] of Object.entries(readers) as [ImageFormat, Reader][]) {
    try {
      const found = read(view);
      if (found !== null) return { format, ...found };
    } catch (error) {
      // The bytes end before the header does.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return null;
}
