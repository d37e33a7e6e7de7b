/**
 * Keeps a folder of bundles under a number of bytes: the oldest bundles that nobody writes go first, with content that no other refers
 * to. Processes that share the folder take turns, and go on recording meanwhile.
 */
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { blobGraceMs } from "./blobs.js";
import { indexPath, readIndex, shortenIndex } from "./index-file.js";
import { readEvents } from "../read/reader.js";
import { pruneFile, removeLeftovers } from "./leftovers.js";
import { livingOwner, lockPath, release, take } from "./owner.js";
import { scan } from "./scan.js";

/** Once a folder is too large, so much of the budget is left when it has been pruned, that this need not come at each episode. */
const leaveShare = 0.9;
/** Bytes, as a share of the budget, that this process writes before it looks again. */
const lookAgainShare = 1 / 32;
/** Files that are looked at before the recorder's thread does something else. */
const filesATurn = 256;

export interface Pruned {
  bundles: number;
  blobs: number;
  /** What is left. */
  bytes: number;
}

/** For the recorder's thread: looks after folders, when recording into them begins and while they grow. */
export class Retention {
  readonly #budget: number;
  readonly #folders = new Map<string, { grown: number; running: Promise<unknown> | null }>();
  #stopped = false;

  /** Infinite: what is whole stays. */
  constructor(budgetBytes: number) {
    this.#budget = budgetBytes;
  }

  /** Recording into the folder begins. */
  watch(folder: string): void {
    if (this.#folders.has(folder)) return;
    const known = { grown: 0, running: null as Promise<unknown> | null };
    this.#folders.set(folder, known);
    known.running = removeLeftovers(folder, () => this.#stopped)
      .catch(() => undefined)
      .finally(() => {
        known.running = null;
        this.#look(folder);
      });
  }

  /** Settles when nothing is removed any more, and no lock of pruning is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#folders.values()].map(({ running }) => running ?? Promise.resolve()));
  }

  /** A bundle of so many bytes was finished; content beside it is found when somebody looks. */
  grown(folder: string, bytes: number): void {
    const known = this.#folders.get(folder);
    if (known === undefined) return;
    known.grown += bytes;
    if (known.grown > this.#budget * lookAgainShare) this.#look(folder);
  }

  #look(folder: string): void {
    const known = this.#folders.get(folder);
    if (known === undefined || known.running !== null || this.#stopped) return;
    if (this.#budget === Number.POSITIVE_INFINITY) return;
    known.grown = 0;
    // A folder that cannot be pruned is one that cannot be written either, which whoever writes it tells.
    known.running = prune(folder, this.#budget, () => this.#stopped)
      .catch(() => undefined)
      .finally(() => {
        known.running = null;
      });
  }
}

interface Entry {
  /** Relative to the folder of bundles; of a blob its hash. */
  name: string;
  path: string;
  bytes: number;
  modified: number;
}

/**
 * Removes what is too much. Null where another process does so at this moment. `stopped` is asked between files; once it says so, what
 * is gone by then is left out of the index, and no more goes.
 */
export async function prune(
  folder: string,
  budgetBytes: number,
  stopped: () => boolean = () => false,
): Promise<Pruned | null> {
  const lock = pruneFile(folder);
  if (!take(lock)) return null;
  try {
    return await new Pruning(folder, budgetBytes, stopped).run();
  } finally {
    release(lock);
  }
}

class Pruning {
  readonly #folder: string;
  readonly #budget: number;
  readonly #stopped: () => boolean;
  #bytes = 0;
  #looked = 0;

  constructor(folder: string, budget: number, stopped: () => boolean) {
    this.#folder = folder;
    this.#budget = budget;
    this.#stopped = stopped;
  }

  async run(): Promise<Pruned> {
    const bundles = (await this.#bundles()).sort((a, b) => a.modified - b.modified);
    const blobs = new Map((await this.#blobs()).map((blob) => [blob.name, blob]));
    for (const { bytes } of [...bundles, ...blobs.values()]) this.#bytes += bytes;
    const pruned: Pruned = { bundles: 0, blobs: 0, bytes: this.#bytes };
    if (this.#bytes <= this.#budget || this.#stopped()) return pruned;
    const uses = await this.#uses(bundles);
    // Half of the uses would make much of the content look unused.
    if (this.#stopped()) return pruned;
    const users = new Map<string, number>();
    for (const hashes of uses.values())
      for (const hash of hashes) users.set(hash, (users.get(hash) ?? 0) + 1);
    const unused = (blob: Entry): void => {
      if (!this.#removeBlob(blob)) return;
      blobs.delete(blob.name);
      pruned.blobs += 1;
    };
    for (const blob of [...blobs.values()]) if (!users.has(blob.name)) unused(blob);
    const living = await this.#ancestors(bundles);
    const gone = new Set<string>();
    for (const bundle of bundles) {
      if (this.#bytes <= this.#budget * leaveShare || this.#stopped()) break;
      if (living.has(bundle.name) || livingOwner(bundle.path) !== null) continue;
      rmSync(bundle.path, { force: true });
      rmSync(lockPath(bundle.path), { force: true });
      this.#bytes -= bundle.bytes;
      gone.add(bundle.name);
      pruned.bundles += 1;
      for (const hash of uses.get(bundle.name) ?? []) {
        const left = (users.get(hash) ?? 1) - 1;
        users.set(hash, left);
        const blob = left === 0 ? blobs.get(hash) : undefined;
        if (blob !== undefined) unused(blob);
      }
      await this.#pause();
    }
    if (existsSync(indexPath(this.#folder))) shortenIndex(this.#folder, ({ file }) => !gone.has(file));
    for (const task of this.#tasks()) removeIfEmpty(join(this.#folder, task));
    return { ...pruned, bytes: this.#bytes };
  }

  /** Hashes of the content that each bundle refers to: from the index, else from the bundle. */
  async #uses(bundles: readonly Entry[]): Promise<Map<string, readonly string[]>> {
    const index = await readIndex(this.#folder);
    const uses = new Map<string, readonly string[]>();
    for (const { name, path } of bundles) {
      if (this.#stopped()) break;
      const known = index.get(name)?.blobs;
      if (known !== undefined) uses.set(name, known);
      else {
        // It may be gone by now, or be no bundle at all.
        const found = await scan(path).catch(() => null);
        uses.set(name, [...new Set(found?.blobs.map(({ sha256 }) => sha256) ?? [])]);
      }
    }
    return uses;
  }

  /** Bundles that a branch which is still played goes back to: without them it could not be run again. */
  async #ancestors(bundles: readonly Entry[]): Promise<Set<string>> {
    const found = new Set<string>();
    let paths = bundles.filter(({ path }) => livingOwner(path) !== null).map(({ path }) => path);
    while (paths.length > 0) {
      const parents = (await Promise.all(paths.map(parentOf))).filter((file) => file !== null);
      const fresh = parents.filter((file) => !found.has(file));
      for (const file of fresh) found.add(file);
      paths = fresh.map((file) => join(this.#folder, file));
    }
    return found;
  }

  #tasks(): string[] {
    return readdirSync(this.#folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== "blobs")
      .map(({ name }) => name);
  }

  async #bundles(): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (const task of this.#tasks())
      for (const name of namesIn(join(this.#folder, task)))
        if (!this.#stopped() && /\.skn(\.damaged(\.\d+)?)?$/.test(name))
          await this.#add(entries, `${task}/${name}`, join(this.#folder, task, name));
    return entries;
  }

  async #blobs(): Promise<Entry[]> {
    const entries: Entry[] = [];
    const root = join(this.#folder, "blobs");
    for (const prefix of namesIn(root))
      for (const name of namesIn(join(root, prefix))) {
        const path = join(root, prefix, name);
        if (!this.#stopped() && !name.endsWith(".tmp")) await this.#add(entries, name, path);
      }
    return entries;
  }

  async #add(entries: Entry[], name: string, path: string): Promise<void> {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) entries.push({ name, path, bytes: stats.size, modified: stats.mtimeMs });
    await this.#pause();
  }

  /**
   * Whoever refers to a blob touches it first, so one that was touched of late stays. It is moved aside before that is looked up for
   * good: a touch came before, and shows, or finds nothing there and writes the blob anew.
   */
  #removeBlob({ path, bytes }: Entry): boolean {
    if (Date.now() - modifiedAt(path) <= blobGraceMs) return false;
    const aside = `${path}.pruned.tmp`;
    renameSync(path, aside);
    if (Date.now() - modifiedAt(aside) <= blobGraceMs) {
      renameSync(aside, path);
      return false;
    }
    rmSync(aside, { force: true });
    this.#bytes -= bytes;
    return true;
  }

  /** The thread has sessions to write for. */
  async #pause(): Promise<void> {
    this.#looked += 1;
    if (this.#looked % filesATurn === 0) await turn();
  }
}

/** The file that a bundle is a branch of; null if it is none, or says nothing yet. */
async function parentOf(path: string): Promise<string | null> {
  const events = readEvents(path, { blobs: false });
  try {
    const { value } = await events.next();
    const parent = (value as { parent?: { file?: unknown } | null } | undefined)?.parent;
    return typeof parent?.file === "string" ? parent.file : null;
  } catch {
    return null;
  } finally {
    await events.return(undefined as never).catch(() => undefined);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Milliseconds since 1970; now where there is nothing. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Not empty, or a bundle has just been opened in it.
  }
}
