/** What SQLite refuses, as errors of ours. */
import Database from "better-sqlite3";
import { ShinkenError, type ErrorCode } from "../../errors/index.js";

/** By the beginning of SQLite's own code. */
const codes: readonly (readonly [string, ErrorCode])[] = [
  ["SQLITE_BUSY", "store_busy"],
  ["SQLITE_LOCKED", "store_busy"],
  ["SQLITE_FULL", "disk_full"],
  ["SQLITE_CORRUPT", "store_damaged"],
  ["SQLITE_NOTADB", "store_damaged"],
  ["SQLITE_IOERR", "store_damaged"],
  ["SQLITE_CANTOPEN", "store_missing"],
  ["SQLITE_CONSTRAINT", "store_conflict"],
  ["SQLITE_READONLY", "store_missing"],
];

/** Gives what `work` gives. @throws ShinkenError `store_busy`, `store_damaged`, `store_missing`, `store_conflict` or `disk_full`. */
export function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError)) throw cause;
    const code = codes.find(([beginning]) => cause.code.startsWith(beginning))?.[1] ?? "internal";
    throw new ShinkenError(code, `${path}: ${cause.message}`, { path, cause });
  }
}
