/** Pieces of what is printed of an episode: colours, cuts, numbers. */
import { printableLines } from "../replay/show/index.js";

/** What is shown of a text: lines, and characters of each. */
export interface Bounds {
  lines: number;
  columns: number;
}

export const whole: Bounds = { lines: Number.POSITIVE_INFINITY, columns: Number.POSITIVE_INFINITY };

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Paint = (style: keyof typeof codes, text: string) => string;

/** Colours, or the text as it is. */
export function painter(colour: boolean): Paint {
  return (style, text) => (colour && text !== "" ? `\u001b[${codes[style]}m${text}\u001b[0m` : text);
}

export const indented = (text: string, bounds: Bounds): string[] =>
  text === "" ? [] : cutLines(printableLines(text).trimEnd(), bounds).map((line) => `    ${line}`);

/** The first two thirds and the end; what is left out between is counted. */
export function cutLines(text: string, bounds: Bounds): string[] {
  const lines = text.split("\n");
  const cut = lines.map((line) => shorten(line, bounds.columns));
  if (lines.length <= bounds.lines) return cut;
  const head = Math.ceil((bounds.lines * 2) / 3);
  const tail = bounds.lines - head;
  return [
    ...cut.slice(0, head),
    `[... ${lines.length - head - tail} lines ...]`,
    ...cut.slice(lines.length - tail),
  ];
}

export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 4).replace(/[\ud800-\udbff]$/, "")} ...`;
}

export const number = (value: number): string => String(Math.round(value * 1e6) / 1e6);
export const signed = (value: number): string => `${value < 0 ? "" : "+"}${number(value)}`;
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(3)} s`;
