/**
 * Goldens on disk: `<cache>/goldens/<key digest>.golden`, the file format in docs/golden.md. A file appears whole or
 * not at all; a damaged or foreign one is removed and made again.
 */
import { createHash } from "node:crypto";
import { mkdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { cacheLayout } from "../../images/index.js";
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

export class GoldenStore {
  readonly folder: string;
  private readonly addon: Addon;

  constructor(cacheDir?: string) {
    this.folder = goldenFolder(cacheDir);
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
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? "") : "";
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
