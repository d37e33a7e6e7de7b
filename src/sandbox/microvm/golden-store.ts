/**
 * Goldens on disk, found by what they were made from and named by their state: two keys whose machines came out alike share
 * a file. A file appears whole or not at all; a damaged or foreign one is removed and made again.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, realpath, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pointName } from "../../images/cache/folder.js";
import { type Addon, loadAddon, type NativeDisk, type NativeGolden } from "./addon.js";
import { goldenFolder, keyPath, orderPath, statePath } from "./golden-folder.js";
import { GOLDEN_BUDGET, isDamaged, prune, storeError } from "./golden-care.js";

/** Of the largest memory, four bytes a page. */
const MAX_ORDER_BYTES = 4 * 1024 ** 2;

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

  /** The pages that forks of that golden touched first, as an earlier process wrote it down; null if none has. */
  async order(key: string): Promise<Uint8Array | null> {
    try {
      const order = await readFile(orderPath(await realpath(keyPath(this.folder, key))));
      return order.length % 4 === 0 && order.length <= MAX_ORDER_BYTES ? order : null;
    } catch {
      return null;
    }
  }

  /** Writes it down for the processes to come; atomic. It only saves time, so nobody fails for it. */
  async saveOrder(key: string, order: Uint8Array): Promise<void> {
    try {
      const golden = await realpath(keyPath(this.folder, key));
      const fresh = `${golden}.tmp.${randomUUID()}`;
      await writeFile(fresh, order);
      await rename(fresh, orderPath(golden));
    } catch {
      // the golden has gone, or the disk is full
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
