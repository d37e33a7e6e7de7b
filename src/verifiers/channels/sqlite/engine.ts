/**
 * One query on a copied database, in SQLite compiled to WebAssembly. The database is hostile: its bytes stay inside the
 * memory of an instance that sees no other, and a job that runs too long is ended with its thread.
 */
import type { BindParams, Database, Statement } from "sql.js";
import { ShinkenError } from "../../../errors/index.js";
import { type Cell, ContentFault } from "../../value.js";
import { type DatabaseFiles, openAhead, withDatabase, withEmptyDatabase } from "./open.js";
import type { Progress } from "./progress.js";
import { type Bind, parameterName, statementFault } from "./statement.js";

const ROW_LIMIT = 10_000;
const COLUMN_LIMIT = 500;
/** Characters of all cells of a result. */
const RESULT_LIMIT = 8 * 1024 * 1024;

/** Milliseconds after which a job of several queries begins no further one: whoever waits for the first gets it now. */
const SLICE_MS = 20;

export interface SqliteQuestion {
  sql: string;
  bind?: Bind | undefined;
}

export interface SqliteJob extends DatabaseFiles, SqliteQuestion {}

export interface SqliteResult {
  columns: string[];
  rows: Cell[][];
}

/** Integers as bigint: the default turns large ones into the nearest double. */
const EXACT = { useBigInt: true } as const;
interface ExactStatement {
  get(params: null, config: typeof EXACT): unknown[];
}

/** A query's answer as it crosses the thread's border, where classes of errors are lost. */
export type SqliteReply =
  | { ok: SqliteResult }
  | { fault: string }
  | { refused: string; suggestion?: string | undefined };

/** Throws what the query threw. */
export function unpack(reply: SqliteReply): SqliteResult {
  if ("ok" in reply) return reply.ok;
  if ("fault" in reply) throw new ContentFault(reply.fault);
  throw new ShinkenError("grader_error", reply.refused, { suggestion: reply.suggestion });
}

/** Runs queries of one database in their order; gives the replies of those that it came to, the first at least. */
export async function querySqliteAll(
  files: DatabaseFiles,
  questions: readonly SqliteQuestion[],
  progress: Progress,
): Promise<SqliteReply[]> {
  // A thread that has just begun loads its code first, which is no query's fault; each says itself what is wrong with the database.
  await openAhead(files).catch(() => undefined);
  const start = performance.now();
  const replies: SqliteReply[] = [];
  for (const question of questions) {
    if (replies.length > 0 && (performance.now() - start > SLICE_MS || progress.stopped)) break;
    progress.goTo(replies.length);
    replies.push(await replyTo({ ...files, ...question }));
  }
  progress.finish();
  return replies;
}

async function replyTo(job: SqliteJob): Promise<SqliteReply> {
  try {
    return { ok: await querySqlite(job) };
  } catch (error) {
    if (error instanceof ContentFault) return { fault: error.message };
    if (error instanceof ShinkenError) return { refused: error.message, suggestion: error.suggestion };
    throw error;
  }
}

/**
 * Runs the query. Throws `ContentFault` for a broken database, a query that does not fit it, or too large a result, and
 * `grader_error` for a query that would be wrong on any database.
 */
export async function querySqlite(job: SqliteJob): Promise<SqliteResult> {
  const fault = statementFault({ ...job, kind: "table" });
  if (fault !== undefined)
    throw new ShinkenError("grader_error", fault.why, { suggestion: fault.suggestion });
  try {
    return await withDatabase(job, (database) => readAll(database, job));
  } catch (error) {
    if (error instanceof ContentFault || error instanceof ShinkenError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    if (await isAuthors(why, job)) throw new ShinkenError("grader_error", `SQLite: ${why}`);
    throw new ContentFault(`SQLite: ${why}`);
  }
}

/** Whether a database that holds nothing says the same of the query, and not for being empty: then no content is at fault. */
async function isAuthors(why: string, job: SqliteJob): Promise<boolean> {
  if (/^no such (table|column)|memory/.test(why)) return false;
  try {
    await withEmptyDatabase((database) => readAll(database, job));
    return false;
  } catch (error) {
    return error instanceof Error && error.message === why;
  }
}

function readAll(database: Database, { sql, bind }: SqliteJob): SqliteResult {
  const statement = database.prepare(sql);
  const result = rowsOf(statement, bind);
  statement.free();
  return result;
}

function rowsOf(statement: Statement, bind: Bind | undefined): SqliteResult {
  if (bind !== undefined) statement.bind(named(bind));
  const rows: Cell[][] = [];
  let size = 0;
  while (statement.step()) {
    if (rows.length >= ROW_LIMIT) throw new ContentFault(`the query returns more than ${ROW_LIMIT} rows`);
    const row = (statement as unknown as ExactStatement).get(null, EXACT).map(cellOf);
    size += row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
    if (size > RESULT_LIMIT) throw new ContentFault(`the query returns more than ${RESULT_LIMIT} characters`);
    rows.push(row);
  }
  const columns = statement.getColumnNames();
  if (columns.length > COLUMN_LIMIT)
    throw new ContentFault(`the query returns more than ${COLUMN_LIMIT} columns`);
  return { columns, rows };
}

function named(bind: Bind): BindParams {
  if (Array.isArray(bind)) return bind;
  return Object.fromEntries(Object.entries(bind).map(([name, value]) => [parameterName(name), value]));
}

function cellOf(value: unknown): Cell {
  if (typeof value === "bigint") {
    if (value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER) {
      throw new ContentFault(`the integer ${value} cannot be held exactly`);
    }
    return Number(value);
  }
  if (value instanceof Uint8Array) return { blob: Buffer.from(value).toString("hex") };
  if (typeof value === "string" || value === null) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new ContentFault("a cell holds a number that is not finite");
}
