/** Databases that a verifier thread has open. Queries of one database follow each other, so it stays open while they come. */
import type { Database } from "sql.js";
import { dropInstance, type Instance, makeSpares, takeInstance } from "./instances.js";
import { rollBack } from "./journal.js";
import { applyLog } from "./wal.js";

/** Bytes of a database, or of its log, that are copied out. */
export const DATABASE_LIMIT = 64 * 1024 * 1024;
/** Bytes that SQLite may use beside the copy. */
const HEAP_LIMIT = 256 * 1024 * 1024;
const SETTINGS = `PRAGMA hard_heap_limit=${HEAP_LIMIT}; PRAGMA trusted_schema=OFF; PRAGMA query_only=ON;`;

/** Databases that stay open. */
const OPEN = 2;
/** Milliseconds without a query after which all are closed, and instances made for those to come. */
const IDLE_MS = 5;

/** Files as they were copied out of a machine; null where nothing was. */
export interface DatabaseFiles {
  /** Jobs with one key are about the same files. Without one, nobody asks them again. */
  key?: number | undefined;
  database: Uint8Array;
  log: Uint8Array | null;
  journal: Uint8Array | null;
}

interface OpenDatabase {
  database: Database;
  instance: Instance;
}

/** Oldest first. */
const open = new Map<number, OpenDatabase>();
let working = 0;
let idle: NodeJS.Timeout | undefined;

/**
 * Calls `work` with the database, open in an instance that no other one has touched. An error ends the instance: it may have left
 * anything behind.
 */
export async function withDatabase<T>(files: DatabaseFiles, work: (database: Database) => T): Promise<T> {
  working++;
  try {
    const known = files.key === undefined ? undefined : open.get(files.key);
    const held = known ?? (await openDatabase(files));
    if (files.key !== undefined) open.delete(files.key);
    let reusable = false;
    try {
      const result = work(held.database);
      // Random numbers are one sequence for every query, so they are drawn from its beginning.
      reusable = !held.instance.crypto.asked;
      return result;
    } finally {
      if (reusable && files.key !== undefined) keep(files.key, held);
      else close(held);
    }
  } finally {
    working--;
    rest();
  }
}

/** Opens a database for the queries that follow, if it stays open for them. */
export async function openAhead(files: DatabaseFiles): Promise<void> {
  if (files.key !== undefined) await withDatabase(files, () => undefined);
}

/** Calls `work` with a database that holds nothing. */
export function withEmptyDatabase<T>(work: (database: Database) => T): Promise<T> {
  return withDatabase({ database: new Uint8Array(), log: null, journal: null }, work);
}

async function openDatabase({ database, log, journal }: DatabaseFiles): Promise<OpenDatabase> {
  const settled = journal === null ? database : rollBack(database, journal);
  const image = applyLog(settled, log ?? new Uint8Array(), DATABASE_LIMIT);
  const instance = await takeInstance();
  const held: { database?: Database; instance: Instance } = { instance };
  try {
    const opened = new instance.sql.Database(image);
    held.database = opened;
    opened.run(SETTINGS);
    return { database: opened, instance };
  } catch (error) {
    close(held);
    throw error;
  }
}

function keep(key: number, held: OpenDatabase): void {
  open.set(key, held);
  for (const [oldest, one] of open) {
    if (open.size <= OPEN) break;
    open.delete(oldest);
    close(one);
  }
}

/** After a trap inside the instance closing may trap again; it is dropped either way. */
function close({ database, instance }: { database?: Database; instance: Instance }): void {
  try {
    database?.close();
  } catch {
    // Nothing outside the instance's own memory is held.
  }
  dropInstance(instance);
}

/** Once no query has come for a while, makes room and instances. A failure shows at the next query. */
function rest(): void {
  clearTimeout(idle);
  idle = setTimeout(() => {
    if (working > 0) return;
    for (const held of open.values()) close(held);
    open.clear();
    makeSpares(() => working > 0).catch(() => undefined);
  }, IDLE_MS);
  idle.unref();
}
