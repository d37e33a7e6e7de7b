/**
 * Goldens on disk, found by what they were made from and named by their state: two keys whose machines came out alike share
 * a file. A file appears whole or not at all; a damaged or foreign one is removed and made again.
 */
import { createHash } from "node:crypto";
import { mkdir, realpath, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pointName } from "../../images/cache/folder.js";
import { type Addon, loadAddon, type NativeDisk, type NativeGolden } from "./addon.js";
import { goldenFolder, keyPath, statePath } from "./golden-folder.js";
import { GOLDEN_BUDGET, isDamaged, prune, storeError } from "./golden-care.js";

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

/** SHA-256 over the identity and the machine ABI, in hex: the golden's key. */
export function goldenDigest(identity: GoldenIdentity, machineAbi: number): string {
  const { image, setup, seed, memoryMiB, recipe } = identity;
  const text = JSON.stringify({ image, setup, seed, memoryMiB, recipe, machineAbi });
  return createHash("sha256").update(text).digest("hex");
}

export class GoldenStore {
  readonly folder: string;
  private readonly addon: Addon;

  private readonly keptBytes: number;

  /** `keptBytes` bounds what lies on disk. */
  constructor(cacheDir?: string, keptBytes = GOLDEN_BUDGET) {
    this.folder = goldenFolder(cacheDir);
    this.keptBytes = keptBytes;
    this.addon = loadAddon();
  }

  /** The golden of that key, or null if there is none that can be used. */
  async load(key: string, disks: NativeDisk[]): Promise<NativeGolden | null> {
    const link = keyPath(this.folder, key);
    let path: string;
    try {
      path = await realpath(link);
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
      await rm(link, { force: true });
      return null;
    }
  }

  /** Saves under that key; atomic. */
  async save(key: string, golden: NativeGolden, note: string): Promise<void> {
    const link = keyPath(this.folder, key);
    await mkdir(dirname(link), { recursive: true });
    const state = await golden.digest();
    try {
      await golden.save({ path: statePath(this.folder, state), note });
    } catch (error) {
      throw storeError(error);
    }
    pointName(link, join("..", `${state}.golden`));
    await prune(this.folder, this.keptBytes, state);
  }
}
