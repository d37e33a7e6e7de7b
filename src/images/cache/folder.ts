import { randomBytes } from "node:crypto";
import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/**
 * The cache folder's layout:
 *
 *     debian/             private apt: lists, archives/NAME_VERSION_ARCH.deb
 *     debian-host/        the same for the few packages that run on the host
 *     roots/KEY/          root.erofs, kernel, modules/, root.json: everything but the agent, by key
 *     images/DIGEST/      root.erofs, kernel, initrd, manifest.json (hard links where the file system allows)
 *     images/by-name/NAME → ../DIGEST
 *     images-tmp/         work in progress; a folder leaves it by one rename
 */
export interface CacheLayout {
  folder: string;
  debian: string;
  debianHost: string;
  roots: string;
  images: string;
  byName: string;
  tmp: string;
  /** Held by whoever builds. */
  lock: string;
}

/** The cache folder: as said, `SHINKEN_CACHE`, or by the XDG base directory rules. */
export function cacheLayout(cacheDir: string | undefined): CacheLayout {
  const environment = process.env["SHINKEN_CACHE"];
  const xdg = process.env["XDG_CACHE_HOME"];
  const base = xdg !== undefined && xdg.startsWith("/") ? xdg : join(homedir(), ".cache");
  const chosen =
    cacheDir ?? (environment !== undefined && environment !== "" ? environment : join(base, "shinken"));
  const folder = resolve(chosen);
  const images = join(folder, "images");
  return {
    folder,
    debian: join(folder, "debian"),
    debianHost: join(folder, "debian-host"),
    roots: join(folder, "roots"),
    images,
    byName: join(images, "by-name"),
    tmp: join(folder, "images-tmp"),
    lock: join(folder, "images-lock"),
  };
}

/** Makes the folders. Throws the file system's error. */
export function makeLayout(layout: CacheLayout): void {
  for (const path of [layout.debian, layout.roots, layout.byName, layout.tmp])
    mkdirSync(path, { recursive: true });
}

/** Gives `work` a folder of its own under the temporary one, which is gone afterwards unless `work` has moved it away. */
export async function withWorkFolder<T>(
  layout: CacheLayout,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(layout.tmp, `build-${process.pid}-${randomBytes(6).toString("hex")}`);
  mkdirSync(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Moves a finished folder to its place in one step. One that is already there wins: it has the same content. */
export function publish(finished: string, place: string): void {
  try {
    renameSync(finished, place);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    rmSync(finished, { recursive: true, force: true });
  }
}

/** Points a name at a folder, replacing what it pointed at in one step. */
export function pointName(link: string, target: string): void {
  const fresh = `${link}.${randomBytes(6).toString("hex")}`;
  symlinkSync(target, fresh);
  renameSync(fresh, link);
}

/** A second name for a file; a copy where the file system has no hard links. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
