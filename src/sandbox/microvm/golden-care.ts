/** What becomes of golden files that nobody uses, and what is wrong with those that are not whole. */
import { rename, rm, stat, utimes } from "node:fs/promises";
import { ShinkenError } from "../../errors/index.js";
import { listImages } from "../../images/cache/images.js";
import { type GoldenFacts, loadAddon } from "./addon.js";
import {
  type GoldenFile,
  goldenFiles,
  keyPath,
  keysOf,
  leftovers,
  orderPath,
  statePath,
} from "./golden-folder.js";

/** Bytes of goldens kept; beyond it the ones that were not used for longest go. */
export const GOLDEN_BUDGET = 8 * 1024 ** 3;
/** A golden used within this time stays, whatever the total. */
const KEPT_MS = 3_600_000;
/** One that was not used for so long may be packed: its next load takes longer. */
const PACKED_MS = 24 * 3_600_000;

/**
 * Removes what has not been used for longest until the rest fits, but nothing that was used lately. Machines that run on
 * such a golden keep it: its pages are mapped, and only the name goes.
 */
export async function prune(folder: string, keptBytes: number, keep: string): Promise<void> {
  const files = await goldenFiles(folder);
  for (const file of overBudget(files, keptBytes, keep)) await remove(folder, file);
}

function overBudget(files: readonly GoldenFile[], keptBytes: number, keep?: string): GoldenFile[] {
  const others = files.filter((file) => file.name !== keep);
  let total = others.reduce((sum, file) => sum + file.bytes, 0);
  const going: GoldenFile[] = [];
  for (const file of others.toReversed()) {
    if (total <= keptBytes || usedLately(file)) break;
    going.push(file);
    total -= file.bytes;
  }
  return going;
}

function usedLately(file: { usedMs: number }, within = KEPT_MS): boolean {
  return Date.now() - file.usedMs < within;
}

async function remove(folder: string, file: GoldenFile): Promise<void> {
  for (const key of file.keys) await rm(keyPath(folder, key), { force: true });
  await rm(file.path, { force: true });
  await rm(orderPath(file.path), { force: true });
}

/** What a clean-up did, or would do, to one file. */
export interface Care {
  path: string;
  action: "removed" | "packed";
  reason: string;
  /** Bytes on disk that are free now. */
  freedBytes: number;
}

export interface CareOptions {
  cacheDir?: string;
  keptBytes: number;
  /** Pack what stays and was not used for a day. */
  compress: boolean;
  /** Say what would be done, and do nothing. `freedBytes` of packing is then 0. */
  dryRun: boolean;
}

/** Removes what nobody can use any more and what exceeds the budget; nothing that was used within an hour. */
export async function collectGoldens(folder: string, options: CareOptions): Promise<Care[]> {
  const done: Care[] = [];
  const { dryRun } = options;
  for (const { path, bytes, usedMs, reason } of await leftovers(folder)) {
    if (usedLately({ usedMs })) continue;
    if (!dryRun) await rm(path, { force: true });
    done.push({ path, action: "removed", reason, freedBytes: bytes });
  }
  const images = new Set(listImages(options.cacheDir).map((image) => image.digest));
  const staying: (GoldenFile & { facts: GoldenFacts })[] = [];
  const drop = async (file: GoldenFile, reason: string): Promise<void> => {
    if (!dryRun) await remove(folder, file);
    done.push({ path: file.path, action: "removed", reason, freedBytes: file.bytes });
  };
  for (const file of await goldenFiles(folder)) {
    const facts = await inspect(file.path);
    const reason = uselessness(file, facts, images);
    if (!(facts instanceof ShinkenError) && (reason === null || usedLately(file)))
      staying.push({ ...file, facts });
    else if (reason !== null && !usedLately(file)) await drop(file, reason);
  }
  const going = new Set(overBudget(staying, options.keptBytes));
  for (const file of going) await drop(file, "not used for longest, beyond the budget");
  if (!dryRun) await dropDeadKeys(folder);
  if (!options.compress) return done;
  for (const file of staying) {
    if (going.has(file) || file.facts.compressed || usedLately(file, PACKED_MS)) continue;
    done.push({
      path: file.path,
      action: "packed",
      reason: "not used for a day",
      freedBytes: dryRun ? 0 : await pack(file),
    });
  }
  return done;
}

/** Why a golden can never be used again; null if it can. */
function uselessness(
  file: GoldenFile,
  facts: GoldenFacts | ShinkenError,
  images: ReadonlySet<string>,
): string | null {
  if (facts instanceof ShinkenError) return facts.message;
  const { machineAbi } = loadAddon();
  if (facts.machineAbi !== machineAbi) return `of machine_abi ${facts.machineAbi}, not ${machineAbi}`;
  if (file.keys.length === 0) return "no key points at it";
  const gone = facts.disks.find((disk) => !images.has(disk.identity));
  return gone === undefined ? null : `its image ${gone.identity.slice(0, 16)} is gone`;
}

async function inspect(path: string): Promise<GoldenFacts | ShinkenError> {
  try {
    return await loadAddon().inspectGolden({ path, check: "index" });
  } catch (error) {
    const described = storeError(error);
    if (described.code !== "golden_invalid") throw described;
    return described;
  }
}

/** Gives the bytes that it freed. Loads of the same name meanwhile find the one file or the other. */
async function pack(file: GoldenFile): Promise<number> {
  try {
    const packed = `${file.path}.tmp.pack`;
    await loadAddon().repackGolden({ from: file.path, to: packed, compress: true });
    const used = new Date(file.usedMs);
    await utimes(packed, used, used);
    await rename(packed, file.path);
  } catch (error) {
    throw storeError(error);
  }
  return Math.max(0, file.bytes - (await stat(file.path)).blocks * 512);
}

async function dropDeadKeys(folder: string): Promise<void> {
  const present = new Set((await goldenFiles(folder)).map((file) => file.path));
  for (const [target, keys] of await keysOf(folder)) {
    if (present.has(statePath(folder, target.replace(/\.golden$/, "")))) continue;
    for (const key of keys) await rm(keyPath(folder, key), { force: true });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? "") : "";
}

/** True if the file itself is at fault. */
export function isDamaged(error: unknown): boolean {
  return codeOf(error).startsWith("golden_");
}

/** A failure of the native store as an error of ours. */
export function storeError(error: unknown): ShinkenError {
  if (error instanceof ShinkenError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|No space left/.test(message)) {
    return new ShinkenError("disk_full", `the cache folder's disk is full: ${message}`, {
      suggestion: "free some space, or point SHINKEN_CACHE to another disk",
      cause: error,
    });
  }
  if (codeOf(error) === "zstd_missing") {
    return new ShinkenError("host_unsupported", message, {
      suggestion: "install libzstd1; goldens that are not compressed need nothing",
      cause: error,
    });
  }
  return new ShinkenError(isDamaged(error) ? "golden_invalid" : "internal", message, { cause: error });
}
