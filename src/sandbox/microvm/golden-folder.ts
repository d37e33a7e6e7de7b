/**
 * The folder of golden files:
 *
 *     goldens/STATE.golden    by state digest, 32 hex digits: docs/golden.md
 *     goldens/STATE.touched   the pages that its `uffd` forks touched first: four bytes each, little-endian
 *     goldens/by-key/KEY      → ../STATE.golden, by what it was made from, 64 hex digits
 */
import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { cacheLayout } from "../../images/cache/folder.js";

/** Shortest beginning of a digest that names a golden. */
const MIN_PREFIX = 8;
const SUFFIX = ".golden";
const ORDER_SUFFIX = ".touched";

/** Folder of the goldens; it need not exist yet. */
export function goldenFolder(cacheDir?: string): string {
  return join(cacheLayout(cacheDir).folder, "goldens");
}

export function statePath(folder: string, state: string): string {
  return join(folder, `${state}${SUFFIX}`);
}

/** Beside a golden's file: where it is written down which pages forks touched first. */
export function orderPath(golden: string): string {
  return golden.slice(0, -SUFFIX.length) + ORDER_SUFFIX;
}

export function keyPath(folder: string, key: string): string {
  return join(folder, "by-key", key);
}

export interface GoldenFile {
  /** The file's name without its ending: the state digest. */
  name: string;
  path: string;
  /** Bytes that it takes on disk. */
  bytes: number;
  /** Of the last load or save, Unix milliseconds. */
  usedMs: number;
  /** Keys that point at it. */
  keys: string[];
}

/** Every golden in the folder, the one used last first. */
export async function goldenFiles(folder: string): Promise<GoldenFile[]> {
  const keys = await keysOf(folder);
  const files: GoldenFile[] = [];
  for (const entry of await namesIn(folder)) {
    if (!entry.endsWith(SUFFIX)) continue;
    const path = join(folder, entry);
    // Another process may have removed it meanwhile.
    const info = await stat(path).catch(() => null);
    if (info === null) continue;
    const [name, bytes, usedMs] = [entry.slice(0, -SUFFIX.length), info.blocks * 512, wholeMs(info)];
    files.push({ name, path, bytes, usedMs, keys: keys.get(entry) ?? [] });
  }
  return files.sort((a, b) => b.usedMs - a.usedMs);
}

/** Keys by the file that they point at, which need not exist. */
export async function keysOf(folder: string): Promise<Map<string, string[]>> {
  const keys = new Map<string, string[]>();
  for (const key of await namesIn(join(folder, "by-key"))) {
    const target = await readlink(keyPath(folder, key)).catch(() => null);
    if (target === null) continue;
    const file = basename(target);
    keys.set(file, [...(keys.get(file) ?? []), key]);
  }
  return keys;
}

/** A file that nobody will read. */
export interface Leftover {
  path: string;
  bytes: number;
  /** Of its last change, Unix milliseconds. */
  usedMs: number;
  reason: "half-written" | "of a golden that is gone";
}

/** What writers left when they died, and orders whose golden was removed by others. */
export async function leftovers(folder: string): Promise<Leftover[]> {
  const found: Leftover[] = [];
  const entries = await namesIn(folder);
  const present = new Set(entries);
  for (const entry of entries) {
    const half = entry.includes(`${SUFFIX}.tmp.`);
    const golden = entry.endsWith(ORDER_SUFFIX) ? entry.slice(0, -ORDER_SUFFIX.length) + SUFFIX : null;
    if (!half && (golden === null || present.has(golden))) continue;
    const path = join(folder, entry);
    const info = await lstat(path).catch(() => null);
    if (info === null) continue;
    const reason = half ? "half-written" : "of a golden that is gone";
    found.push({ path, bytes: info.blocks * 512, usedMs: wholeMs(info), reason });
  }
  return found;
}

/**
 * The golden of that state digest or key, of a beginning of one of at least eight digits, or at that path.
 * @throws ShinkenError `golden_missing`.
 */
export async function findGolden(folder: string, named: string): Promise<GoldenFile> {
  const files = await goldenFiles(folder);
  if (named.includes("/") || named.endsWith(SUFFIX)) {
    const info = await stat(named).catch(() => null);
    if (info?.isFile() !== true) throw missing(`there is no file ${named}`);
    const known = files.find((file) => file.path === named);
    const name = basename(named, SUFFIX);
    return known ?? { name, path: named, bytes: info.blocks * 512, usedMs: wholeMs(info), keys: [] };
  }
  const exact = files.find(({ keys }) => keys.includes(named)) ?? files.find(({ name }) => name === named);
  if (exact !== undefined) return exact;
  const matching = files.filter(({ name, keys }) =>
    [name, ...keys].some((digest) => digest.startsWith(named)),
  );
  const [match, second] = named.length >= MIN_PREFIX ? matching : [];
  if (match === undefined) throw missing(`there is no golden ${named} in ${folder}`);
  if (second !== undefined) throw missing(`more than one golden in ${folder} begins with ${named}`);
  return match;
}

function missing(message: string): ShinkenError {
  return new ShinkenError("golden_missing", message, {
    suggestion: "`shinken golden list` names those there are",
  });
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** When a file was used last. To the nearest: a time that was set comes back a fraction of a millisecond below. */
function wholeMs({ mtimeMs }: { mtimeMs: number }): number {
  return Math.round(mtimeMs);
}
