import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { nearest } from "../../errors/nearest.js";
import { ShinkenError } from "../../errors/index.js";
import { readManifest } from "../manifest.js";
import { recipes } from "../recipe.js";
import type { ImageInfo } from "../types.js";
import { type CacheLayout, cacheLayout } from "./folder.js";

/** Shortest beginning of a digest that names an image. */
const minPrefix = 8;

/** Reads one image folder. Throws `bad_request` if its manifest is broken. */
export function imageInfo(folder: string): ImageInfo {
  const manifest = readManifest(join(folder, "manifest.json"));
  const { kernel, initrd, root } = manifest.files;
  return {
    name: manifest.name,
    digest: manifest.digest,
    kernel: join(folder, "kernel"),
    initrd: join(folder, "initrd"),
    root: join(folder, "root.erofs"),
    manifest: join(folder, "manifest.json"),
    appendBase: manifest.appendBase,
    releaseDate: manifest.releaseDate,
    sizeBytes: kernel.size + initrd.size + root.size,
  };
}

/** What is wrong with an image's files at a glance (missing, or of another length), or undefined. */
export function imageFault(folder: string): string | undefined {
  const { kernel, initrd, root } = readManifest(join(folder, "manifest.json")).files;
  const sizes = { kernel: kernel.size, initrd: initrd.size, "root.erofs": root.size };
  for (const [name, size] of Object.entries(sizes)) {
    const found = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
    if (found === undefined) return `${name} is missing`;
    if (found !== size) return `${name} has ${found} bytes instead of ${size}`;
  }
  return undefined;
}

/** An image that is fit to be booted. Throws `image_missing` for one that is not whole. */
function wholeImage(folder: string): ImageInfo {
  const fault = imageFault(folder);
  if (fault === undefined) return imageInfo(folder);
  throw new ShinkenError("image_missing", `the image ${folder} is damaged: ${fault}`, {
    suggestion: `build it again: shinken image build ${imageInfo(folder).name}`,
  });
}

function digests(layout: CacheLayout): string[] {
  if (!existsSync(layout.images)) return [];
  return readdirSync(layout.images)
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .sort();
}

/** Every finished image in the cache, sorted by digest. */
export function listImages(cacheDir?: string): ImageInfo[] {
  const layout = cacheLayout(cacheDir);
  return digests(layout).map((digest) => imageInfo(join(layout.images, digest)));
}

/** Names that point at an image, with its digest. */
export function imageNames(cacheDir?: string): { name: string; digest: string }[] {
  const layout = cacheLayout(cacheDir);
  if (!existsSync(layout.byName)) return [];
  return readdirSync(layout.byName)
    .filter((name) => existsSync(join(layout.byName, name)))
    .sort()
    .map((name) => ({ name, digest: basename(realpathSync(join(layout.byName, name))) }));
}

/**
 * Finds an image by its name (the one built last under it), its digest, or a beginning of the digest of at least eight
 * digits. Throws `image_missing`, also for one whose files are not whole.
 */
export function openImage(nameOrDigest: string, cacheDir?: string): ImageInfo {
  const layout = cacheLayout(cacheDir);
  const names = imageNames(cacheDir);
  const named = names.find((entry) => entry.name === nameOrDigest)?.digest;
  if (named !== undefined) return wholeImage(join(layout.images, named));
  if (nameOrDigest.length >= minPrefix) {
    const [match, second] = digests(layout).filter((digest) => digest.startsWith(nameOrDigest));
    if (match !== undefined && second === undefined) return wholeImage(join(layout.images, match));
  }
  throw new ShinkenError("image_missing", `there is no image ${nameOrDigest} in ${layout.folder}`, {
    suggestion: whatInstead(
      nameOrDigest,
      names.map((entry) => entry.name),
    ),
  });
}

function whatInstead(name: string, there: readonly string[]): string {
  if (recipes.has(name)) return `build it: shinken image build ${name}`;
  const meant = nearest(name, [...there, ...recipes.keys()]);
  return meant === undefined
    ? `images that can be built: ${[...recipes.keys()].join(", ")}`
    : `did you mean ${meant}?`;
}
