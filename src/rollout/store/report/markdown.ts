/** Words and figures of the reports in Markdown. Names come from others: nothing in them ends a cell or begins markup. */
import { printable } from "../../../replay/show/printable.js";

/** One cell or piece of a sentence. */
export function plain(text: string): string {
  return printable(text).replace(/[\\`*_[\]<>|#~]/g, (mark) => `\\${mark}`);
}

/** A score, a share or a difference. */
export const score = (value: number | null): string => (value === null ? "–" : value.toFixed(3));

export const signed = (value: number | null): string =>
  value === null ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(3)}`;

export const interval = (ci: readonly [number, number] | null, figure: (value: number) => string): string =>
  ci === null ? "–" : `${figure(ci[0])} to ${figure(ci[1])}`;

/** `right`: numbers. */
export interface MarkdownColumn<Row> {
  title: string;
  right?: boolean;
  cell: (row: Row) => string;
}

export function markdownTable<Row>(rows: readonly Row[], columns: readonly MarkdownColumn<Row>[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ right }) => (right === true ? "---:" : "---"))),
    ...rows.map((row) => line(columns.map(({ cell }) => cell(row)))),
  ];
}
