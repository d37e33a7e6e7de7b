/**
 * One query on a copied database, in SQLite compiled to WebAssembly. The database is hostile: its bytes stay inside the
 * engine's own memory, every job gets a fresh engine, and a job that runs too long is ended with its thread.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { compileFunction } from "node:vm";
import type { BindParams, Database, SqlJsStatic, Statement } from "sql.js";
import { ShinkenError } from "../../../errors/index.js";
import { type Cell, ContentFault } from "../../value.js";
import { rollBack } from "./journal.js";
import { type Bind, parameterName, statementFault } from "./statement.js";
import { StillDate, stillCrypto, stillPerformance } from "./still.js";
import { applyLog } from "./wal.js";

/** Bytes of a database, or of its log, that are copied out. */
export const DATABASE_LIMIT = 64 * 1024 * 1024;
const ROW_LIMIT = 10_000;
const COLUMN_LIMIT = 500;
/** Characters of all cells of a result. */
const RESULT_LIMIT = 8 * 1024 * 1024;
/** Bytes that the engine may use beside the copy. */
const HEAP_LIMIT = 256 * 1024 * 1024;

export interface SqliteJob {
  database: Uint8Array;
  log: Uint8Array | null;
  journal: Uint8Array | null;
  sql: string;
  bind?: Bind | undefined;
}

export interface SqliteResult {
  columns: string[];
  rows: Cell[][];
}

/** Integers as bigint: the default turns large ones into the nearest double. */
const EXACT = { useBigInt: true } as const;
interface ExactStatement {
  get(params: null, config: typeof EXACT): unknown[];
}

const require = createRequire(import.meta.url);

/** The parts of the WebAssembly interface that are used; Node's types leave it to the browser's. */
interface Wasm {
  compile(bytes: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<object>;
}
const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly;

type Instantiate = (imports: object, done: (instance: object) => void) => object;
type Initialise = (options: { instantiateWasm: Instantiate }) => Promise<SqlJsStatic>;

/** What all engines of a thread share: code, and nothing that a database could touch. */
interface Engine {
  module: object;
  /** Evaluates the package's module anew: it keeps one engine for each time it is evaluated. */
  evaluate: () => Initialise;
}
let shared: Promise<Engine> | undefined;

async function compileEngine(): Promise<Engine> {
  const path = require.resolve("sql.js");
  // Compiled once: parsing the package costs more than all the rest of an engine.
  const body = compileFunction(
    readFileSync(path, "utf8"),
    ["exports", "require", "module", "__filename", "__dirname", "Date", "performance"],
    { filename: path },
  ) as (...words: unknown[]) => void;
  return {
    module: await wasm.compile(readFileSync(path.replace(/\.js$/, ".wasm"))),
    evaluate: () => {
      const module = { exports: {} };
      const crypto = stillCrypto();
      const load = (name: string): unknown => (name === "node:crypto" ? crypto : require(name));
      body(module.exports, load, module, path, dirname(path), StillDate, stillPerformance);
      return module.exports as Initialise;
    },
  };
}

/** An engine that no other database has touched; only the compiled code is shared. */
async function freshEngine(): Promise<SqlJsStatic> {
  shared ??= compileEngine();
  const { module, evaluate } = await shared;
  return evaluate()({
    instantiateWasm: (imports, done) => {
      void wasm.instantiate(module, imports).then(done);
      return {};
    },
  });
}

/** An engine made while the thread had nothing to do: making one costs more than most queries. */
let spare: Promise<SqlJsStatic> | undefined;

function takeEngine(): Promise<SqlJsStatic> {
  const taken = spare ?? freshEngine();
  spare = undefined;
  return taken;
}

/** Makes the next engine once the reply to this job is on its way. A failure shows at the next job. */
function makeSpare(): void {
  setImmediate(() => {
    spare ??= freshEngine();
    spare.catch(() => {
      spare = undefined;
    });
  });
}

/**
 * Runs the query. Throws `ContentFault` for a broken database, a query that does not fit it, or too large a result, and
 * `grader_error` for a query that would be wrong on any database.
 */
export async function querySqlite(job: SqliteJob): Promise<SqliteResult> {
  const fault = statementFault(job.sql, job.bind);
  if (fault !== undefined)
    throw new ShinkenError("grader_error", fault.why, { suggestion: fault.suggestion });
  const settled = job.journal === null ? job.database : rollBack(job.database, job.journal);
  const image = applyLog(settled, job.log ?? new Uint8Array(), DATABASE_LIMIT);
  const engine = await takeEngine();
  let database: Database | undefined;
  try {
    database = new engine.Database(image);
    database.run(`PRAGMA hard_heap_limit=${HEAP_LIMIT}; PRAGMA trusted_schema=OFF; PRAGMA query_only=ON;`);
    return readAll(database.prepare(job.sql), job.bind);
  } catch (error) {
    if (error instanceof ContentFault) throw error;
    const why = error instanceof Error ? error.message : String(error);
    if (await isAuthors(why, job.sql)) throw new ShinkenError("grader_error", `SQLite: ${why}`);
    throw new ContentFault(`SQLite: ${why}`);
  } finally {
    closeQuietly(database);
    makeSpare();
  }
}

/** Whether an empty database says the same of the query, and not for being empty: then no content is at fault. */
async function isAuthors(why: string, sql: string): Promise<boolean> {
  if (/^no such (table|column)|memory/.test(why)) return false;
  const database = new (await freshEngine()).Database();
  try {
    database.prepare(sql);
    return false;
  } catch (error) {
    return error instanceof Error && error.message === why;
  } finally {
    closeQuietly(database);
  }
}

/** After a trap inside the engine closing may trap again; the engine is dropped either way. */
function closeQuietly(database: Database | undefined): void {
  try {
    database?.close();
  } catch {
    // Nothing outside the engine's own memory is held.
  }
}

function readAll(statement: Statement, bind: SqliteJob["bind"]): SqliteResult {
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

function named(bind: NonNullable<SqliteJob["bind"]>): BindParams {
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
