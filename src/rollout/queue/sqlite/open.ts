import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { ShinkenError } from "../../../errors/index.js";
import { queueFailed } from "../faults.js";
import { applicationId, schema, schemaVersion } from "./schema.js";

export type Connection = Database.Database;

/** How long an operation waits for another process's. */
const busyMs = 10_000;

/** Gives what `work` gives. @throws ShinkenError `queue_failed` for what SQLite refuses */
export function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof ShinkenError) throw cause;
    if (cause instanceof Database.SqliteError || (cause as NodeJS.ErrnoException).code !== undefined)
      throw queueFailed(path, cause);
    throw cause;
  }
}

/** Opens the file, and makes it if there is none. @throws ShinkenError `queue_failed` */
export function openFile(path: string): Connection {
  return guarded(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    const database = new Database(path, { timeout: busyMs });
    try {
      prepare(database, path);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/** With a write-ahead log and `FULL`, what was acknowledged is on the disk, whatever dies. */
function prepare(database: Connection, path: string): void {
  const number = (pragma: string): number => database.pragma(pragma, { simple: true }) as number;
  const ours = (): boolean => {
    if (number("application_id") === applicationId && number("user_version") === schemaVersion) return true;
    const { n } = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number };
    if (n > 0) throw queueFailed(path, new Error(`is no queue of version ${schemaVersion}`));
    return false;
  };
  ours();
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  const create = database.transaction(() => {
    // Another process may have made it while this one waited.
    if (ours()) return;
    database.exec(schema);
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${schemaVersion}`);
  });
  create.immediate();
}
