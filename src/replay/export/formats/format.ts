import type { Columns, Row } from "../columns.js";
import type { Episode } from "../episode.js";
import type { LeftOut } from "../filter.js";

/** A shape of rows. */
export interface ExportFormat {
  columns: Columns;
  /** The rows of an episode, or why it has none. `first`: rows before them in the export. */
  rows(episode: Episode, first: number): Iterable<Row> | LeftOut;
}
