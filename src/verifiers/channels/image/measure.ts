/** What can be said of a picture's pixels: colours of a rectangle, a perceptual hash. */
import type { Picture } from "../../value.js";

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Colour = [red: number, green: number, blue: number];

/** True if the rectangle lies in the picture as a whole. */
export function holds(picture: Picture, { x, y, width, height }: Rectangle): boolean {
  return x + width <= picture.width && y + height <= picture.height;
}

/** The colour of a pixel on white. */
function colourAt(pixels: Uint8Array, at: number): Colour {
  const alpha = (pixels[at + 3] ?? 255) / 255;
  const on = (value: number): number => value * alpha + 255 * (1 - alpha);
  return [on(pixels[at] ?? 0), on(pixels[at + 1] ?? 0), on(pixels[at + 2] ?? 0)];
}

function eachPixel(
  { width: stride, pixels }: Picture,
  area: Rectangle,
  visit: (colour: Colour) => void,
): void {
  for (let y = area.y; y < area.y + area.height; y++)
    for (let x = area.x; x < area.x + area.width; x++) visit(colourAt(pixels, (y * stride + x) * 4));
}

/** Sum of colours and their number. */
class Sum {
  count = 0;
  private readonly total: Colour = [0, 0, 0];
  add(colour: Colour): void {
    this.count++;
    for (let index = 0; index < 3; index++)
      this.total[index] = (this.total[index] ?? 0) + (colour[index] ?? 0);
  }
  get mean(): Colour {
    return this.total.map((value) => value / this.count) as Colour;
  }
}

/** Mean colour of a rectangle that lies in the picture. */
export function meanColour(picture: Picture, area: Rectangle): Colour {
  const sum = new Sum();
  eachPixel(picture, area, (colour) => sum.add(colour));
  return sum.mean;
}

/** Levels of each channel that count as one colour. */
const BIN = 16;

/**
 * The colour that most of a rectangle has: the mean of the fullest of 16 x 16 x 16 bins (of equally full ones the darkest), and
 * the share of pixels in it.
 */
export function dominantColour(picture: Picture, area: Rectangle): { colour: Colour; share: number } {
  const bins = new Map<number, Sum>();
  eachPixel(picture, area, (colour) => {
    const key = colour.reduce((sum, value) => sum * 256 + Math.floor(value / BIN), 0);
    let bin = bins.get(key);
    if (bin === undefined) bins.set(key, (bin = new Sum()));
    bin.add(colour);
  });
  const [fullest] = [...bins].sort(([a, { count: left }], [b, { count: right }]) => right - left || a - b);
  const bin = (fullest as [number, Sum])[1];
  return { colour: bin.mean, share: bin.count / (area.width * area.height) };
}

/** `#rrggbb`, each channel rounded. */
export function hexColour(colour: Colour): string {
  return `#${colour.map((value) => Math.round(value).toString(16).padStart(2, "0")).join("")}`;
}

/** Luma after ITU-R BT.601, on white, row by row. */
export function lumaOf({ pixels, width, height }: Picture): Float64Array {
  const luma = new Float64Array(width * height);
  for (let index = 0; index < luma.length; index++) {
    const [red, green, blue] = colourAt(pixels, index * 4);
    luma[index] = 0.299 * red + 0.587 * green + 0.114 * blue;
  }
  return luma;
}

/** Side of the small picture that a hash is made of, and of the square of frequencies that are kept. */
const SMALL = 32;
const KEPT = 8;

/** Averages a plane over a grid of `SMALL` by `SMALL` equal rectangles; pixels on a border count by the part inside. */
function shrink(plane: Float64Array, width: number, height: number): Float64Array {
  const cover = (size: number): { from: number; weights: number[] }[] =>
    Array.from({ length: SMALL }, (_, index) => {
      const start = (index * size) / SMALL;
      const end = ((index + 1) * size) / SMALL;
      const from = Math.floor(start);
      const weights: number[] = [];
      for (let at = from; at < end; at++)
        weights.push((Math.min(end, at + 1) - Math.max(start, at)) / (end - start));
      return { from, weights };
    });
  const columns = cover(width);
  const small = new Float64Array(SMALL * SMALL);
  cover(height).forEach((rows, y) => {
    columns.forEach((cells, x) => {
      let sum = 0;
      rows.weights.forEach((vertical, down) => {
        cells.weights.forEach((horizontal, right) => {
          sum += vertical * horizontal * (plane[(rows.from + down) * width + cells.from + right] ?? 0);
        });
      });
      small[y * SMALL + x] = sum;
    });
  });
  return small;
}

/** The cosine of the discrete cosine transform, type II. */
const basis = (frequency: number, at: number): number =>
  Math.cos((Math.PI * frequency * (2 * at + 1)) / (2 * SMALL));

/**
 * A perceptual hash of 64 bits as 16 hex digits, after C. Zauner, "Implementation and Benchmarking of Perceptual Image Hash
 * Functions", 2010: luma, averaged to 32 x 32, its cosine transform's frequencies 1 to 8 each way; a bit is 1 where the coefficient is
 * above the median of all 64. First bit first, rows of vertical frequency.
 */
export function perceptualHash(picture: Picture): string {
  const small = shrink(lumaOf(picture), picture.width, picture.height);
  const coefficients: number[] = [];
  for (let v = 1; v <= KEPT; v++) {
    for (let u = 1; u <= KEPT; u++) {
      let sum = 0;
      for (let y = 0; y < SMALL; y++)
        for (let x = 0; x < SMALL; x++) sum += (small[y * SMALL + x] ?? 0) * basis(u, x) * basis(v, y);
      // Rounding noise must not decide the bits of a plain picture.
      coefficients.push(Math.round(sum * 1e6) / 1e6);
    }
  }
  const sorted = [...coefficients].sort((a, b) => a - b);
  const median = ((sorted[31] ?? 0) + (sorted[32] ?? 0)) / 2;
  const bits = coefficients.map((value) => (value > median ? "1" : "0")).join("");
  return BigInt(`0b${bits}`).toString(16).padStart(16, "0");
}

/** Bits in which two hashes differ, of 64. */
export function hashDistance(a: string, b: string): number {
  return (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2).replaceAll("0", "").length;
}
