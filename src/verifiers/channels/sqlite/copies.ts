/** The databases of one machine as verifier threads get them: each is read once, shared once, and known by one number. */
import type { MachineView } from "../../view.js";
import { DATABASE_LIMIT, type DatabaseFiles } from "./open.js";

/** Bytes above which threads share one copy; below it a copy for each is cheaper. */
const SHARED_FROM = 256 * 1024;

const known = new WeakMap<MachineView, Map<string, Promise<DatabaseFiles | null>>>();
let keys = 0;

/** The database at a path and its side files, or null where there is none. */
export function databaseAt(view: MachineView, path: string): Promise<DatabaseFiles | null> {
  let copies = known.get(view);
  if (copies === undefined) {
    copies = new Map();
    known.set(view, copies);
  }
  const copied = copies.get(path) ?? copy(view, path);
  copies.set(path, copied);
  return copied;
}

async function copy(view: MachineView, path: string): Promise<DatabaseFiles | null> {
  const read = (suffix: string): Promise<Uint8Array | null> => view.read(`${path}${suffix}`, DATABASE_LIMIT);
  const [database, log, journal] = await Promise.all([read(""), read("-wal"), read("-journal")]);
  if (database === null) return null;
  return { key: keys++, database: shareable(database), log: log && shareable(log), journal };
}

/** A message to a thread copies an array, unless its memory is shared. */
function shareable(bytes: Uint8Array): Uint8Array {
  if (bytes.length < SHARED_FROM) return bytes;
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}
