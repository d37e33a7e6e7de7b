export interface Column<Row> {
  title: string;
  right?: boolean;
  cell: (row: Row) => string;
}

/** Rows as aligned lines of text under their titles. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[] {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ cell }) => cell(row))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((text, index) => {
        const width = widths[index] ?? 0;
        return columns[index]?.right === true ? text.padStart(width) : text.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => "-".repeat(width)).join("  "));
  return lines;
}
