/**
 * The first frame of a GIF. Format: https://www.w3.org/Graphics/GIF/spec-gif89a.txt. Read here because the library that there is loops for
 * ever on some damaged files.
 *
 *     screen, 13 bytes: signature, width, height, flags, background, aspect; a table of colours if bit 7 of the flags is set
 *     blocks: 0x21, a label and sub-blocks (0xf9: which index is transparent); 0x2c, a frame of 9 bytes, a table, sub-blocks; 0x3b, the end
 *     sub-blocks: each a length and as many bytes, up to one of length 0
 *     a frame's data: size of the first code, then codes of 3 to 12 bits, the lowest bit first (LZW)
 */
const SCREEN = 13;
const FRAME = 9;
/** Codes are at most this many. */
const CODES = 4_096;

class Bytes {
  at = 0;
  private readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new Error("it ends too early");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  byte(): number {
    return this.take(1)[0] as number;
  }
  /** All sub-blocks up to the empty one. */
  blocks(): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let length = this.byte(); length > 0; length = this.byte()) parts.push(this.take(length));
    return Buffer.concat(parts);
  }
  colours(flags: number): Uint8Array | null {
    return flags & 0x80 ? this.take(3 * 2 ** ((flags & 7) + 1)) : null;
  }
}

/** Red, green, blue and alpha of the screen, what the frame leaves out transparent. Throws an error for a damaged file. */
export function decodeFirstFrame(bytes: Uint8Array): { width: number; height: number; data: Uint8Array } {
  const input = new Bytes(bytes);
  const screen = input.take(SCREEN);
  const word = (from: Uint8Array, at: number): number => (from[at] ?? 0) | ((from[at + 1] ?? 0) << 8);
  const [width, height] = [word(screen, 6), word(screen, 8)];
  const shared = input.colours(screen[10] ?? 0);
  let transparent = -1;
  for (;;) {
    const kind = input.byte();
    if (kind === 0x21) {
      const label = input.byte();
      const content = input.blocks();
      if (label === 0xf9) transparent = (content[0] ?? 0) & 1 ? (content[3] ?? -1) : -1;
      continue;
    }
    if (kind !== 0x2c) throw new Error("it holds no frame");
    const frame = input.take(FRAME);
    const flags = frame[8] ?? 0;
    const colours = input.colours(flags) ?? shared;
    if (colours === null) throw new Error("it has no colours");
    const [left, top, wide, high] = [word(frame, 0), word(frame, 2), word(frame, 4), word(frame, 6)];
    if (left + wide > width || top + high > height) throw new Error("the frame leaves the picture");
    const first = input.byte();
    const indices = unpack(input.blocks(), first, wide * high);
    const data = new Uint8Array(width * height * 4);
    const rows = rowOrder(high, (flags & 0x40) !== 0);
    indices.forEach((index, place) => {
      if (index === transparent) return;
      if (index * 3 >= colours.length) throw new Error("a colour is in no table");
      const row = top + (rows[Math.floor(place / wide)] ?? 0);
      data.set(colours.subarray(index * 3, index * 3 + 3), (row * width + left + (place % wide)) * 4);
      data[(row * width + left + (place % wide)) * 4 + 3] = 255;
    });
    return { width, height, data };
  }
}

/** Rows in the order in which they are stored. */
function rowOrder(high: number, interlaced: boolean): number[] {
  const passes = interlaced
    ? [
        [0, 8],
        [4, 8],
        [2, 4],
        [1, 2],
      ]
    : [[0, 1]];
  const rows: number[] = [];
  for (const [start = 0, step = 1] of passes) for (let row = start; row < high; row += step) rows.push(row);
  return rows;
}

/** Undoes LZW: exactly `count` indices, or an error. */
function unpack(packed: Uint8Array, first: number, count: number): Uint8Array {
  if (first < 1 || first > 11) throw new Error("its codes have no size");
  const clear = 1 << first;
  const end = clear + 1;
  /** Of each code: the code before its last byte, that byte, and how many bytes it stands for. */
  const before = new Uint16Array(CODES);
  const last = new Uint8Array(CODES);
  const length = new Uint32Array(CODES);
  for (let code = 0; code < clear; code++) {
    last[code] = code;
    length[code] = 1;
  }
  const out = new Uint8Array(count);
  let at = 0;
  let [next, bits, previous] = [end + 1, first + 1, -1];
  let [held, holds] = [0, 0];
  for (const byte of packed) {
    held |= byte << holds;
    holds += 8;
    while (holds >= bits) {
      const code = held & ((1 << bits) - 1);
      held >>>= bits;
      holds -= bits;
      if (code === clear) {
        [next, bits, previous] = [end + 1, first + 1, -1];
        continue;
      }
      if (code === end) {
        if (at !== count) throw new Error("its data end before the frame does");
        return out;
      }
      // The one code that may be used as it is made: the last one and its own first byte again.
      const known = code < next && code !== end;
      if (!known && (code !== next || previous === -1)) throw new Error("an unknown code");
      const source = known ? code : previous;
      const size = (length[source] ?? 0) + (known ? 0 : 1);
      if (at + size > count) throw new Error("its data are longer than the frame");
      let place = at + (length[source] ?? 0) - 1;
      for (let one = source; place >= at; place--, one = before[one] ?? 0) out[place] = last[one] ?? 0;
      const head = out[at] ?? 0;
      if (!known) out[at + size - 1] = head;
      at += size;
      if (previous !== -1 && next < CODES) {
        before[next] = previous;
        last[next] = head;
        length[next] = (length[previous] ?? 0) + 1;
        next++;
        if (next === 1 << bits && bits < 12) bits++;
      }
      previous = code;
    }
  }
  // Many writers leave the end code out.
  if (at !== count) throw new Error("its data end before the frame does");
  return out;
}
