/**
 * Goldens on disk: `<cache>/goldens/<key digest>.golden`, the file format in docs/golden.md. A file appears whole or
 * not at all; a damaged or foreign one is removed and made again.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { cacheLayout } from "../../images/cache/folder.js";
import { type Addon, loadAddon, type NativeDisk, type NativeGolden } from "./addon.js";

/** Everything a golden depends on. Two goldens with equal keys are bit-identical. */
export interface GoldenIdentity {
  /** Digest of the image: kernel, initial root with the agent, root, boot arguments. */
  image: string;
  setup: string;
  seed: string;
  memoryMiB: number;
  /** What this room itself does to a machine before it freezes it. */
  recipe: string;
}

/** Folder of the goldens; it need not exist yet. */
export function goldenFolder(cacheDir?: string): string {
  return join(cacheLayout(cacheDir).folder, "goldens");
}

/** SHA-256 over the identity and the machine ABI, in hex: the golden's name. */
export function goldenDigest(identity: GoldenIdentity, machineAbi: number): string {
  const { image, setup, seed, memoryMiB, recipe } = identity;
  const text = JSON.stringify({ image, setup, seed, memoryMiB, recipe, machineAbi });
  return createHash("sha256").update(text).digest("hex");
}

/** Bytes of goldens kept; beyond it the ones that were not used for longest go. */
const KEPT_BYTES = 8 * 1024 ** 3;
/** A golden used within this time stays, whatever the total. */
const KEPT_MS = 3_600_000;

export class GoldenStore {
  readonly folder: string;
  private readonly addon: Addon;

  private readonly keptBytes: number;

  /** `keptBytes` bounds what lies on disk. */
  constructor(cacheDir?: string, keptBytes = KEPT_BYTES) {
    this.folder = goldenFolder(cacheDir);
    this.keptBytes = keptBytes;
    this.addon = loadAddon();
  }

  private path(digest: string): string {
    return join(this.folder, `${digest}.golden`);
  }

  /** The golden of that name, or null if there is none that can be used. */
  async load(digest: string, disks: NativeDisk[]): Promise<NativeGolden | null> {
    const path = this.path(digest);
    try {
      await stat(path);
    } catch {
      return null;
    }
    try {
      const golden = await this.addon.loadGolden({ path, disks, check: "index" });
      const now = new Date();
      // The time of the last use lets a clean-up tell old goldens from those in use.
      await utimes(path, now, now).catch(() => undefined);
      return golden;
    } catch (error) {
      if (!isDamaged(error)) throw storeError(error);
      await rm(path, { force: true });
      return null;
    }
  }

  /** Saves under that name; atomic. */
  async save(digest: string, golden: NativeGolden, note: string): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    try {
      await golden.save({ path: this.path(digest), note });
    } catch (error) {
      throw storeError(error);
    }
    await this.prune(digest);
  }

  /**
   * Removes what has not been used for longest until the rest fits. Machines that run on such a golden keep it: its
   * pages are mapped, and only the name goes.
   */
  private async prune(keep: string): Promise<void> {
    const files: { path: string; bytes: number; used: number }[] = [];
    for (const name of await readdir(this.folder)) {
      if (!name.endsWith(".golden") || name === `${keep}.golden`) continue;
      const path = join(this.folder, name);
      // Another process may have removed it meanwhile.
      const info = await stat(path).catch(() => null);
      if (info !== null) files.push({ path, bytes: info.blocks * 512, used: info.mtimeMs });
    }
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files.sort((a, b) => a.used - b.used)) {
      if (total <= this.keptBytes || Date.now() - file.used < KEPT_MS) break;
      await rm(file.path, { force: true });
      total -= file.bytes;
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? "") : "";
}

function isDamaged(error: unknown): boolean {
  return codeOf(error).startsWith("golden_");
}

function storeError(error: unknown): ShinkenError {
  const message = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|No space left/.test(message)) {
    return new ShinkenError("disk_full", `the cache folder's disk is full: ${message}`, {
      suggestion: "free some space, or point SHINKEN_CACHE to another disk",
      cause: error,
    });
  }
  return new ShinkenError(isDamaged(error) ? "golden_invalid" : "internal", message, { cause: error });
}
