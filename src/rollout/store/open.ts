/** The file: opened, recognised, brought to this version. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { ShinkenError } from "../../errors/index.js";
import { guarded } from "./faults.js";
import { applicationId, migrations, schemaVersion } from "./schema/index.js";

export type Connection = Database.Database;

/** How long a writer waits for another one. */
const busyMs = 10_000;

/**
 * Opens the file; one that is to be written is made, or migrated, if need be.
 * @throws ShinkenError `store_missing`, `store_version`, `store_damaged`, `store_busy`, `disk_full`
 */
export function openFile(path: string, readonly: boolean): Connection {
  if (!existsSync(path)) {
    if (readonly)
      throw new ShinkenError("store_missing", `there is no run store at ${path}`, {
        path,
        suggestion: "`shinken eval` and `shinken runs import` make one",
      });
    makeFolder(dirname(path));
  } else if (!statSync(path).isFile())
    throw new ShinkenError("store_missing", `${path} is no file`, { path });
  return guarded(path, () => {
    const database = new Database(path, { readonly, timeout: busyMs });
    try {
      recognise(database, path);
      if (readonly) refuseOlder(database, path);
      else prepare(database);
      database.pragma("foreign_keys = ON");
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new ShinkenError("store_missing", `${folder}: ${(cause as Error).message}`, {
      path: folder,
      cause,
    });
  }
}

const number = (database: Connection, pragma: string): number =>
  database.pragma(pragma, { simple: true }) as number;

/** Another program's database, or a later version of ours, is not touched. */
function recognise(database: Connection, path: string): void {
  const version = number(database, "user_version");
  const empty = (database.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number }).n === 0;
  if (!empty && number(database, "application_id") !== applicationId)
    throw new ShinkenError("store_damaged", `${path} is a database, and no run store`, { path });
  if (version > schemaVersion)
    throw new ShinkenError(
      "store_version",
      `${path} has schema version ${version}; this program knows versions up to ${schemaVersion}`,
      { path, suggestion: "use the version of shinken that wrote it, or a later one" },
    );
}

function refuseOlder(database: Connection, path: string): void {
  const version = number(database, "user_version");
  if (version < schemaVersion)
    throw new ShinkenError(
      "store_version",
      `${path} has schema version ${version}, and is migrated to ${schemaVersion} by the next who opens it for writing`,
      { path },
    );
}

/** A write-ahead log lets others read meanwhile; with `FULL`, what was committed is on the disk. */
function prepare(database: Connection): void {
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  if (number(database, "user_version") === schemaVersion) return;
  const migrate = database.transaction(() => {
    // Another process may have done it while this one waited.
    for (let version = number(database, "user_version"); version < schemaVersion; version += 1)
      database.exec(migrations[version] ?? "");
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${schemaVersion}`);
  });
  migrate.immediate();
}
