/** A forest plot as SVG: a row each with its point and interval. Readable on light and on dark pages, and without colours. */
import { printable } from "../../../replay/show/printable.js";

export interface ForestRow {
  label: string;
  /** Null: nothing is known, which is written out. */
  value: number | null;
  /** Null: no interval is drawn. */
  ci: readonly [number, number] | null;
  /** Set apart from the others, with a diamond. */
  total?: boolean | undefined;
  /** Beside the label, small. */
  note?: string | undefined;
}

export interface ForestPlot {
  title: string;
  /** What the axis shows. */
  axis: string;
  rows: readonly ForestRow[];
  /** Ends of the axis; what lies beyond ends in an arrow. */
  from: number;
  to: number;
  /** Where a line is drawn from top to bottom. */
  reference?: number | undefined;
}

/** Pixels. */
const size = { row: 26, label: 260, plot: 420, figures: 170, pad: 16, title: 34, axis: 52, point: 4.5 };
const width = size.pad * 2 + size.label + size.plot + size.figures;
const plotLeft = size.pad + size.label;

/** About so many characters fit beside the plot. */
const labelLength = 36;
/** Of a label's character, what one of a note takes. */
const noteShare = 0.9;
const ticks = 5;

const style = `
  .page { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }
  .note, .tick { fill: #59636e; font-size: 11px } .total { font-weight: 600 } .figure { font-variant-numeric: tabular-nums }
  .grid { stroke: #d1d9e0 } .reference { stroke: #59636e; stroke-dasharray: 4 3 }
  .interval { stroke: #0969da; stroke-width: 2 } .point { fill: #0969da } .interval.total { stroke: #1f2328 } .point.total { fill: #1f2328 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #f0f6fc } .note, .tick { fill: #9198a1 } .grid { stroke: #3d444d } .reference { stroke: #9198a1 }
    .interval { stroke: #58a6ff } .point { fill: #58a6ff } .interval.total { stroke: #f0f6fc } .point.total { fill: #f0f6fc }
  }`;

export function forestPlot({ title, axis, rows, from, to, reference }: ForestPlot): string {
  const x = (value: number): number => plotLeft + ((clamp(value, from, to) - from) / (to - from)) * size.plot;
  const bottom = size.title + size.pad + rows.length * size.row;
  const height = bottom + size.axis;
  const vertical = (value: number, name: string): string =>
    `<line class="${name}" x1="${px(x(value))}" x2="${px(x(value))}" y1="${size.title + size.pad - 4}" y2="${bottom}"/>`;
  const marks = Array.from({ length: ticks }, (_, index) => from + ((to - from) * index) / (ticks - 1));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="title" x="${size.pad}" y="${size.title - 6}">${escaped(title)}</text>`,
    ...marks.flatMap((mark) => [
      vertical(mark, "grid"),
      `<text class="tick" text-anchor="middle" x="${px(x(mark))}" y="${bottom + 16}">${figure(mark)}</text>`,
    ]),
    ...(reference === undefined ? [] : [vertical(reference, "reference")]),
    ...rows.flatMap((row, index) =>
      drawn(row, size.title + size.pad + (index + 0.5) * size.row, x, from, to),
    ),
    `<text class="note" text-anchor="middle" x="${plotLeft + size.plot / 2}" y="${bottom + 36}">${escaped(axis)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function drawn(row: ForestRow, y: number, x: (value: number) => number, from: number, to: number): string[] {
  const { value, ci, label, note, total } = row;
  const kind = total === true ? " total" : "";
  const text = shortened(label, labelLength - Math.ceil((note?.length ?? 0) * noteShare));
  const told = note === undefined ? "" : ` <tspan class="note">${escaped(note)}</tspan>`;
  const figures =
    value === null
      ? "not known"
      : `${figure(value)}${ci === null ? "" : ` [${figure(ci[0])}, ${figure(ci[1])}]`}`;
  return [
    `<text class="label${kind}" x="${size.pad}" y="${px(y + 4)}"><title>${escaped(label)}</title>${escaped(text)}${told}</text>`,
    ...(ci === null ? [] : interval(ci, y, kind, x, from, to)),
    ...(value === null ? [] : [point(x(value), y, kind)]),
    `<text class="figure${kind}" x="${plotLeft + size.plot + size.pad}" y="${px(y + 4)}">${figures}</text>`,
  ];
}

/** Cut between code points. */
function shortened(label: string, length: number): string {
  const characters = Array.from(label);
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : label;
}

/** Its ends are ticks, or arrows where it goes on beyond the axis. */
function interval(
  [low, high]: readonly [number, number],
  y: number,
  kind: string,
  x: (value: number) => number,
  from: number,
  to: number,
): string[] {
  const [left, right] = [x(low), x(high)];
  const end = (at: number, outward: number | null): string =>
    outward === null
      ? `M${px(at)} ${px(y - 4)}V${px(y + 4)}`
      : `M${px(at - outward * 5)} ${px(y - 4)}L${px(at)} ${px(y)}L${px(at - outward * 5)} ${px(y + 4)}`;
  const path = `M${px(left)} ${px(y)}H${px(right)}${end(left, low < from ? -1 : null)}${end(right, high > to ? 1 : null)}`;
  return [`<path class="interval${kind}" fill="none" d="${path}"/>`];
}

function point(at: number, y: number, kind: string): string {
  const r = size.point;
  return kind === ""
    ? `<circle class="point" cx="${px(at)}" cy="${px(y)}" r="${r}"/>`
    : `<path class="point total" d="M${px(at - r * 1.5)} ${px(y)}L${px(at)} ${px(y - r * 1.5)}L${px(at + r * 1.5)} ${px(y)}L${px(at)} ${px(y + r * 1.5)}Z"/>`;
}

const clamp = (value: number, from: number, to: number): number => Math.min(to, Math.max(from, value));
const px = (value: number): string => String(Math.round(value * 100) / 100);

/** Two digits; a difference of nothing has no sign. */
function figure(value: number): string {
  const text = value.toFixed(2);
  return text === "-0.00" ? "0.00" : text.replace("-", "−");
}

function escaped(text: string): string {
  return printable(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
