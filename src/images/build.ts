import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../errors/nearest.js";
import { ShinkenError } from "../errors/index.js";
import { packageRoot } from "./assets.js";
import { buildInitrd } from "./boot/initrd.js";
import { requireTools } from "./boot/kernel.js";
import {
  type CacheLayout,
  cacheLayout,
  linkOrCopy,
  makeLayout,
  pointName,
  publish,
  withWorkFolder,
} from "./cache/folder.js";
import { imageFault, imageInfo } from "./cache/images.js";
import { withLock } from "./cache/lock.js";
import { buildFailure, requireSpace, sha256 } from "./files.js";
import {
  formatJson,
  type Manifest,
  parseFile,
  readManifestOf,
  type RootRecord,
  rootRecordSchema,
} from "./manifest.js";
import { fetchPackages, lockedSet } from "./packages.js";
import { appendBase, type ImageRecipe, recipeVersion, recipes } from "./recipe.js";
import { recipeDigest } from "./recipe_digest.js";
import { buildRoot, rootKey } from "./root/build_root.js";
import { checkHooks } from "./root/hooks.js";
import type { BuildOptions, ImageInfo, ImageProgress } from "./types.js";

/** The finishing boot's initial root and the finished root, with room to spare. */
const buildBytes = 800e6;

type Report = (event: ImageProgress) => void;

/**
 * Builds a guest image, or finds it in the cache. An image that is there is taken without asking the network, unless
 * `refresh` or `locked` is given; a changed agent only makes a new initial root. Nothing appears in the cache before
 * it is whole. Throws `bad_request` (name, manifest), `image_build_failed`, `signature_invalid`, `hash_mismatch`, `disk_full`, `host_unsupported`.
 */
export async function buildImage(name: string, options: BuildOptions): Promise<ImageInfo> {
  const recipe = recipes.get(name);
  if (recipe === undefined) {
    const meant = nearest(name, recipes.keys());
    throw new ShinkenError("bad_request", `there is no recipe for an image ${name}`, {
      path: "name",
      suggestion:
        meant === undefined ? `known images: ${[...recipes.keys()].join(", ")}` : `did you mean ${meant}?`,
    });
  }
  return buildRecipe(recipe, options);
}

/** Builds an image that is not among the known ones; `keys` are the keyrings that its release is signed by. */
export async function buildRecipe(
  recipe: ImageRecipe,
  options: BuildOptions,
  keys?: readonly string[],
): Promise<ImageInfo> {
  const report: Report = options.onProgress ?? (() => undefined);
  const layout = cacheLayout(options.cacheDir);
  try {
    checkHooks(recipe.hooks ?? []);
    const former = options.locked === undefined ? undefined : readManifestOf(recipe.name, options.locked);
    const agent = readAgent(options.agent);
    makeLayout(layout);
    const wait = (): void => {
      report({ stage: "packages", done: 0, total: 0, text: "waiting for another build to finish" });
    };
    return await withLock(layout.lock, wait, async () => {
      sweep(layout);
      const root =
        cachedRoot(layout, recipe, former, options, report) ??
        (await makeRoot(layout, recipe, former, options, report, keys));
      return await assemble(layout, recipe, root, agent, report);
    });
  } catch (error) {
    throw buildFailure(error);
  }
}

function readAgent(path: string | undefined): Buffer {
  const file = path ?? join(packageRoot(), "build", "agent", "shinken-agent");
  if (!existsSync(file)) {
    throw new ShinkenError("image_build_failed", `the guest agent ${file} has not been built`, {
      suggestion: "make build",
    });
  }
  return readFileSync(file);
}

/** Removes what builders left behind who were killed; the lock is held, so nobody else is at work. */
function sweep(layout: CacheLayout): void {
  for (const name of readdirSync(layout.tmp))
    rmSync(join(layout.tmp, name), { recursive: true, force: true });
}

/** The root that is in the cache for this recipe, or undefined if one must be made or looked for. */
function cachedRoot(
  layout: CacheLayout,
  recipe: ImageRecipe,
  former: Manifest | undefined,
  options: BuildOptions,
  report: Report,
): string | undefined {
  if (options.refresh === true) return undefined;
  if (former !== undefined) {
    const folder = join(layout.roots, former.rootKey);
    // The key must be that of the packages: an edited manifest does not pass for the one that it was.
    if (rootKey(recipe, lockedSet(former)) !== former.rootKey || !existsSync(folder)) return undefined;
    requireFormerBytes(former, parseFile(join(folder, "root.json"), rootRecordSchema, "root record"));
    report({ stage: "packages", done: 1, total: 1, text: "cached" });
    return folder;
  }
  // The link stands for a recipe's version, so that a new recipe does not take an old root.
  const link = join(layout.roots, currentName(recipe));
  if (!existsSync(link)) return undefined;
  report({ stage: "packages", done: 1, total: 1, text: "cached" });
  return link;
}

function requireFormerBytes(former: Manifest, { files }: RootRecord): void {
  if (former.files.root.sha256 === files.root.sha256 && former.files.kernel.sha256 === files.kernel.sha256)
    return;
  throw new ShinkenError(
    "image_build_failed",
    "the same packages did not give the bytes of the former image",
  );
}

function currentName(recipe: ImageRecipe): string {
  return `${recipe.name}-${recipeDigest(recipe).slice(0, 16)}`;
}

async function makeRoot(
  layout: CacheLayout,
  recipe: ImageRecipe,
  former: Manifest | undefined,
  options: BuildOptions,
  report: Report,
  keys?: readonly string[],
): Promise<string> {
  await requireTools();
  const packages = await fetchPackages(layout, recipe, former, options, report, keys);
  const key = rootKey(recipe, packages.set);
  if (former !== undefined && former.rootKey !== key) {
    const versions = `version ${former.recipeVersion} then, ${recipeVersion} now`;
    throw new ShinkenError(
      "image_build_failed",
      `the recipe of ${recipe.name} has changed since that image (${versions}), or its manifest was edited`,
    );
  }
  const place = join(layout.roots, key);
  if (existsSync(place)) {
    report({ stage: "boot", done: 1, total: 1, text: "cached" });
  } else {
    await withWorkFolder(layout, async (folder) => {
      // Early: a disk that fills up under a running machine is seen only as an error of that machine's disk.
      requireSpace(layout.tmp, buildBytes, "building an image needs");
      const record = await buildRoot(folder, recipe, packages, options.runFinishingBoot, report);
      if (former !== undefined) requireFormerBytes(former, record);
      for (const name of ["finish.cpio", "python"])
        rmSync(join(folder, name), { recursive: true, force: true });
      publish(folder, place);
    });
  }
  if (former === undefined) pointName(join(layout.roots, currentName(recipe)), key);
  return place;
}

/** Joins root, kernel and agent into an image folder named by its digest. */
async function assemble(
  layout: CacheLayout,
  recipe: ImageRecipe,
  rootFolder: string,
  agent: Buffer,
  report: Report,
): Promise<ImageInfo> {
  const record: RootRecord = parseFile(join(rootFolder, "root.json"), rootRecordSchema, "root record");
  const modules = record.modules.map((name) => ({
    name,
    data: readFileSync(join(rootFolder, "modules", `${name}.ko`)),
  }));
  const initrd = await buildInitrd(agent, modules, record.releaseDate);
  const files = {
    kernel: record.files.kernel,
    initrd: { sha256: sha256(initrd), size: initrd.length },
    root: record.files.root,
  };
  const digest = sha256(
    JSON.stringify([files.kernel.sha256, files.initrd.sha256, files.root.sha256, appendBase]),
  );
  const place = join(layout.images, digest);
  if (existsSync(place) && imageFault(place) !== undefined) rmSync(place, { recursive: true, force: true });
  if (existsSync(place)) {
    report({ stage: "image", done: 1, total: 1, text: "cached" });
  } else {
    await withWorkFolder(layout, (folder) => {
      mkdirSync(folder, { recursive: true });
      for (const file of ["kernel", "root.erofs"]) linkOrCopy(join(rootFolder, file), join(folder, file));
      writeFileSync(join(folder, "initrd"), initrd);
      const { modules: _, ...rest } = record;
      const manifest: Manifest = { ...rest, digest, appendBase, files };
      writeFileSync(join(folder, "manifest.json"), formatJson(manifest));
      if (statSync(join(folder, "root.erofs")).size !== record.files.root.size) {
        throw new ShinkenError(
          "image_build_failed",
          `the cached root ${rootFolder} is not whole; remove that folder`,
        );
      }
      publish(folder, place);
      return Promise.resolve();
    });
    report({ stage: "image", done: 1, total: 1, text: digest.slice(0, 12) });
  }
  pointName(join(layout.byName, recipe.name), join("..", digest));
  return imageInfo(place);
}
