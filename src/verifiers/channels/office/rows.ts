/** A document's table as a table. */
import { type Answer, type Cell, ContentFault } from "../../value.js";

/** Cells of a table, those that only fill its rows included. */
const CELL_LIMIT = 200_000;

/**
 * Each row as the pieces that its cells come to: one that spans several has its text in the first, the rest are null, as is
 * what short rows lack. Pieces are counted as they come. Throws `ContentFault` for too many cells.
 */
export function rowsTable(
  pieces: Iterable<Iterable<readonly Cell[]>>,
  header: boolean,
  what: string,
): Answer {
  const refuse = (): ContentFault => new ContentFault(`${what} has a table of more than ${CELL_LIMIT} cells`);
  let cells = 0;
  const rows = Array.from(pieces, (row) =>
    Array.from(row, (piece) => {
      cells += piece.length;
      if (cells > CELL_LIMIT) throw refuse();
      return piece;
    }).flat(),
  );
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  if (width * rows.length > CELL_LIMIT) throw refuse();
  const filled = rows.map((row) => [...row, ...Array.from({ length: width - row.length }, (): Cell => null)]);
  if (!header) {
    const columns = Array.from({ length: width }, (_, index) => String(index));
    return { type: "table", columns, rows: filled };
  }
  const [first = [], ...rest] = filled;
  return { type: "table", columns: first.map((cell) => (typeof cell === "string" ? cell : "")), rows: rest };
}
