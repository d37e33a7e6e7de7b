import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { archivePath } from "../../src/images/apt/resolve.js";
import { buildImage } from "../../src/images/build.js";
import { type CacheLayout, cacheLayout, linkOrCopy } from "../../src/images/cache/folder.js";
import { sha256OfFile } from "../../src/images/files.js";
import { openImage, readManifest } from "../../src/images/index.js";
import type { Manifest } from "../../src/images/manifest.js";
import { lockedSet } from "../../src/images/packages.js";
import { inGuest } from "../../src/images/python/host_python.js";
import { recipes } from "../../src/images/recipe.js";
import { rootKey } from "../../src/images/root/build_root.js";
import type { ImageProgress } from "../../src/images/types.js";
import { runFinishingBoot } from "../../src/sandbox/microvm/program.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";
import { readCpio } from "./support/cpio_reader.js";
import { scratchFolder } from "./support/tiny_deb.js";

/** Packages, unpacked tree and root of a second build, bytes. */
const neededBytes = 2e9;
/** A finishing boot is a minute of work, on a busy machine several. */
const timeout = 1_200_000;

const normal = cacheLayout(undefined);
const folder = scratchFolder();
const cacheDir = join(folder, "cache");

/** Every package's file, as a path in the given cache. */
function archives(layout: CacheLayout, manifest: Manifest): string[] {
  const { root, tools, kernel, locales } = lockedSet(manifest);
  return [...root, ...tools, kernel, locales].map((record) =>
    archivePath(join(layout.debian, "archives"), record),
  );
}

/** Why the image cannot be built once more without the network, or null. */
async function obstacle(): Promise<string | null> {
  const unavailable = await machinesUnavailable();
  if (unavailable !== null) return unavailable;
  const manifest = readManifest(openImage(TEST_IMAGE).manifest);
  const recipe = recipes.get(TEST_IMAGE);
  if (recipe === undefined || rootKey(recipe, lockedSet(manifest)) !== manifest.rootKey)
    return "the image in the cache was made by another recipe";
  if (!archives(normal, manifest).every((file) => existsSync(file)))
    return "the image's packages are no longer in the cache";
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < neededBytes
    ? `there are less than ${neededBytes / 1e9} GB free in ${folder}`
    : null;
}

/** Second names in the new cache for what the normal one has fetched. */
function giveFiles(from: string, to: string, names: readonly string[]): void {
  mkdirSync(to, { recursive: true });
  for (const name of names) linkOrCopy(join(from, name), join(to, name));
}

describe("the shell image", () => {
  let why: string | null = null;
  beforeAll(async () => {
    why = await obstacle();
    if (why !== null) console.warn(`skipped: the image is not built a second time: ${why}`);
  }, timeout);
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it(
    "built again in another cache folder from the same packages, without the network, is the same to the byte",
    async (context) => {
      if (why !== null) return context.skip(why);
      const first = openImage(TEST_IMAGE);
      const manifest = readManifest(first.manifest);
      const own = cacheLayout(cacheDir);
      const names = (files: string): string[] =>
        readdirSync(files, { withFileTypes: true })
          .filter((entry) => entry.isFile() && entry.name !== "lock")
          .map((entry) => entry.name);
      for (const [from, to] of [
        [join(normal.debian, "archives"), join(own.debian, "archives")],
        [join(normal.debianHost, "archives"), join(own.debianHost, "archives")],
        [join(normal.debianHost, "lists"), join(own.debianHost, "lists")],
      ] as const)
        if (existsSync(from)) giveFiles(from, to, names(from));
      // The agent goes into the initial root; the one that this image holds, whatever has been compiled since.
      const agent = join(folder, "agent");
      const init = readCpio(readFileSync(first.initrd)).find((member) => member.path === "init");
      writeFileSync(agent, init?.data ?? "");

      const events: ImageProgress[] = [];
      const second = await buildImage(TEST_IMAGE, {
        cacheDir,
        locked: first.manifest,
        agent,
        runFinishingBoot,
        onProgress: (event) => events.push(event),
      });

      const texts = (stage: string): string[] =>
        events.filter((event) => event.stage === stage).map((event) => event.text);
      // Nothing was asked for, and the root was really made a second time.
      expect(texts("packages").filter((text) => !text.startsWith(inGuest))).toEqual([
        expect.stringMatching(/^\d+ packages, all in the cache$/),
      ]);
      expect(texts("boot").length).toBeGreaterThan(manifest.packages.length / 2);
      expect(second.root.startsWith(cacheDir)).toBe(true);
      for (const part of ["root", "initrd", "kernel", "manifest"] as const)
        expect([part, await sha256OfFile(second[part])]).toEqual([part, await sha256OfFile(first[part])]);
      expect(second.digest).toBe(first.digest);
      expect(readManifest(second.manifest).files.root).toEqual(await sha256OfFile(second.root));
    },
    timeout,
  );
});
