/** Databases of the machine: copied out of the grading fork with their log, queried on the host. */
import { ShinkenError } from "../../../errors/index.js";
import { type Answer, type Cell, ContentFault } from "../../value.js";
import type { ReadChannel } from "../channel.js";
import { statementFault } from "./statement.js";
import type { SqliteQuery } from "./query.js";
import { databaseAt } from "./copies.js";
import type { SqliteResult } from "./engine.js";
import { askDatabase } from "./together.js";

export const readSqlite: ReadChannel<SqliteQuery> = async (query, context) => {
  // A query of a code node comes here unproved; a missing database must not hide what is wrong with it.
  const fault = statementFault(query);
  if (fault !== undefined)
    throw new ShinkenError("grader_error", fault.why, { suggestion: fault.suggestion });
  const view = await context.view();
  // Mostly the path is no link: then these are the reads below, which are made once.
  const ahead = databaseAt(view, query.path);
  ahead.catch(() => undefined);
  const found = await view.resolve(query.path);
  if (found === null) return { absent: `there is nothing at ${query.path}` };
  // SQLite names its side files after the path that links lead to.
  const files = await (found.path === query.path ? ahead : databaseAt(view, found.path));
  if (files === null) return { absent: `there is nothing at ${query.path}` };
  const result = await askDatabase(files, { sql: query.sql, bind: query.bind }, context.signal);
  return shape(result, query.kind);
};

function shape(result: SqliteResult, kind: SqliteQuery["kind"]): Answer {
  if (kind === "table") return { type: "table", ...result };
  if (result.columns.length !== 1)
    throw new ContentFault(`the query returns ${result.columns.length} columns instead of 1`);
  const cells = result.rows.map((row) => row[0] as Cell);
  if (kind === "column") return { type: "list", value: cells.map(listItem) };
  if (cells.length > 1) throw new ContentFault(`the query returns ${cells.length} rows instead of 1`);
  const cell = cells[0];
  if (cell === undefined) return { absent: "the query returns no row" };
  if (kind === "number" && typeof cell === "number") return { type: "number", value: cell };
  if (kind === "text" && typeof cell === "string") return { type: "text", value: cell };
  throw new ContentFault(`the query returns ${typeOf(cell)}, not a ${kind}`);
}

function listItem(cell: Cell): string | number {
  if (typeof cell === "string" || typeof cell === "number") return cell;
  throw new ContentFault(`a column holds ${typeOf(cell)}, which is no list item`);
}

function typeOf(cell: Cell): string {
  if (cell === null) return "NULL";
  return typeof cell === "object" ? "bytes" : typeof cell === "string" ? "text" : "a number";
}
