/**
 * One grading fork as the checks of one verdict see it. Its workload is frozen, so what was read once is true for
 * all of them: a path is examined once, a file and a database are copied once, processes are listed once.
 */
import { posix } from "node:path";
import { ShinkenError } from "../errors/index.js";
import type { FileStat, Look, ProcessInfo, Sandbox } from "../sandbox/sandbox.js";
import { sha256 } from "./canonical.js";
import { ContentFault } from "./value.js";

/** Links followed at the end of a path before it counts as a circle. */
const MAX_LINKS = 16;
/** Entries of one folder. */
const LIST_LIMIT = 10_000;
/** Bytes of a file whose hash is wanted: as many as are read of a database, and more than a check ever compares. */
const HASH_LIMIT = 256 * 1024 * 1024;
/** Bytes of a file that a check reads unless it says otherwise. */
export const DEFAULT_READ_LIMIT = 16 * 1024 * 1024;

export interface Resolved {
  path: string;
  stat: FileStat;
}

/** Number and command line of a process that has one. */
export type CommandLine = Pick<ProcessInfo, "pid" | "argv">;

export class MachineView {
  readonly sandbox: Sandbox;
  private readonly stats = new Map<string, Promise<FileStat | null>>();
  private readonly looks = new Map<string, Promise<Look | null>>();
  private readonly files = new Map<string, { limit: number; bytes: Promise<Uint8Array | null> }>();
  private readonly lists = new Map<string, Promise<FileStat[]>>();
  private readonly hashes = new Map<string, Promise<string>>();
  private processList: Promise<ProcessInfo[]> | undefined;
  private commands: Promise<CommandLine[]> | undefined;
  private folder: Promise<string> | undefined;
  private outstanding = 0;
  private held = false;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  /** Calls that the machine has not answered yet. */
  get busy(): boolean {
    return this.outstanding > 0;
  }

  /** A call came to its limit: whoever serves them may be held up for good, and nobody should ask here any more. */
  get stuck(): boolean {
    return this.held;
  }

  /** Makes a call of the machine and keeps count of it. */
  async call<T>(action: (sandbox: Sandbox) => Promise<T>): Promise<T> {
    this.outstanding++;
    try {
      return await action(this.sandbox);
    } catch (error) {
      if (cameToLimit(error)) this.held = true;
      throw error;
    } finally {
      this.outstanding--;
    }
  }

  /**
   * A folder for grading assets. Its name derives from the fork's whole state, so that the same state has the same name, while nobody
   * can know it from inside: to prepare something in its place would change the name.
   */
  assetFolder(): Promise<string> {
    this.folder ??= this.call((sandbox) => sandbox.digest()).then(
      (state) => `/run/shinken-grader/${sha256(`assets ${state}`).slice(0, 32)}`,
    );
    return this.folder;
  }

  /** What lies at a path itself (a final link is not followed), or null. */
  async stat(path: string): Promise<FileStat | null> {
    try {
      const looked = this.looks.get(path);
      if (looked !== undefined) return (await looked)?.stat ?? null;
    } catch (error) {
      // What cannot be read can still be there.
      if (!(error instanceof ContentFault)) throw error;
    }
    return memo(this.stats, path, () =>
      orAbsent(path, () => this.call((sandbox) => sandbox.statIfExists(path))),
    );
  }

  /** What lies at a path itself, with the content of a small file where the machine gives it along. */
  private look(path: string): Promise<Look | null> {
    return memo(this.looks, path, () =>
      orAbsent(path, () =>
        this.call(async (sandbox) => {
          if (sandbox.look !== undefined) return sandbox.look(path);
          const stat = await sandbox.statIfExists(path);
          return stat === null ? null : { stat };
        }),
      ),
    );
  }

  /** What a path leads to once final links are followed, or null. Throws `ContentFault` for a circle. */
  resolve(path: string): Promise<Resolved | null> {
    return this.follow(path, (at) => this.stat(at));
  }

  private async follow(
    path: string,
    statOf: (path: string) => Promise<FileStat | null>,
  ): Promise<Resolved | null> {
    let current = path;
    for (let hops = 0; hops <= MAX_LINKS; hops++) {
      const stat = await statOf(current);
      if (stat === null) return null;
      if (stat.type !== "symlink") return { path: current, stat };
      if (stat.target === undefined) throw new ContentFault(`${current} is a link without a target`);
      current = posix.resolve(posix.dirname(current), stat.target);
    }
    throw new ContentFault(`${path}: more than ${MAX_LINKS} links`);
  }

  /**
   * A regular file's whole content, or null where nothing is. Anything else (a pipe would block) and a file larger than
   * `limit` bytes is a `ContentFault`.
   */
  async read(path: string, limit: number = DEFAULT_READ_LIMIT): Promise<Uint8Array | null> {
    const found = await this.follow(path, async (at) => (await this.look(at))?.stat ?? null);
    if (found === null) return null;
    if (found.stat.type !== "file") throw new ContentFault(`${path} is a ${found.stat.type}, not a file`);
    if (found.stat.size > limit) throw tooLarge(path, limit);
    const looked = await this.look(found.path);
    const bytes = looked?.bytes ?? (await this.readOnce(found.path, limit));
    // Files of /proc say that they are empty; only the bytes tell.
    if (bytes !== null && bytes.length > limit) throw tooLarge(path, limit);
    return bytes;
  }

  private readOnce(path: string, limit: number): Promise<Uint8Array | null> {
    const known = this.files.get(path);
    if (known !== undefined && known.limit >= limit) return known.bytes;
    const bytes = orAbsent(path, () => this.call((sandbox) => sandbox.readFile(path, { limit: limit + 1 })));
    this.files.set(path, { limit, bytes });
    return bytes;
  }

  /** Entries of a folder, sorted by name. Throws `ContentFault` for one with more than 10,000. */
  list(path: string): Promise<FileStat[]> {
    return memo(this.lists, path, async () => {
      const entries = await ofContent(path, () => this.call((sandbox) => sandbox.list(path, LIST_LIMIT)));
      if (entries.length >= LIST_LIMIT) throw new ContentFault(`${path} holds ${LIST_LIMIT} entries or more`);
      return entries;
    });
  }

  /** SHA-256 of a regular file. Throws `ContentFault` for one that is larger than 256 MiB or cannot be read. */
  hash(path: string): Promise<string> {
    return memo(this.hashes, path, () =>
      ofContent(path, () => this.call((sandbox) => sandbox.hash(path, HASH_LIMIT))),
    );
  }

  processes(): Promise<ProcessInfo[]> {
    this.processList ??= this.call((sandbox) => sandbox.processes());
    return this.processList;
  }

  /** Command lines of the processes that have one: neither the dead nor the kernel's threads do. */
  commandLines(): Promise<readonly CommandLine[]> {
    if (this.processList !== undefined) return this.processList;
    this.commands ??= this.call((sandbox) => sandbox.commandLines?.() ?? this.processes());
    return this.commands;
  }
}

function tooLarge(path: string, limit: number): ContentFault {
  return new ContentFault(`${path} is larger than ${limit} bytes`);
}

function memo<T>(cache: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}

/** True for an error that says that a machine did not answer within its limits. */
export function cameToLimit(error: unknown): boolean {
  return error instanceof ShinkenError && error.code === "machine_timeout";
}

/** What the machine itself is short of, whatever lies at the path. */
const MEANS: ReadonlySet<string> = new Set(["ENOMEM", "EMFILE", "ENFILE", "ETIMEDOUT", "ECANCELED"]);

/** The errno at which the guest refused a path; the path itself may hold any word. */
function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof ShinkenError) || error.code !== "guest_error") return undefined;
  return (/\((E[A-Z0-9]+)\)$|^(E[A-Z0-9]+):|: (E[A-Z0-9]+)(?:,|$)/.exec(error.message) ?? [])
    .slice(1)
    .find(Boolean);
}

/** What the guest refuses to tell of a path is the fault of what lies there: a file of /proc, a broken mount, rights. */
async function ofContent<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const errno = errnoOf(error);
    const tooMuch = error instanceof ShinkenError && error.code === "too_large";
    if (!tooMuch && (errno === undefined || MEANS.has(errno))) throw error;
    throw new ContentFault(`${path}: ${(error as Error).message}`);
  }
}

/** Nothing at the path, or a file where a folder should be, is an answer. */
function orAbsent<T>(path: string, read: () => Promise<T>): Promise<T | null> {
  return ofContent(path, async () => {
    try {
      return await read();
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return null;
      throw error;
    }
  });
}
