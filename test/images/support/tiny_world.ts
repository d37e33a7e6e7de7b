import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { buildRecipe } from "../../../src/images/build.js";
import { imageNames, listImages } from "../../../src/images/index.js";
import type { BuildOptions, ImageInfo } from "../../../src/images/types.js";
import { scratchFolder } from "./tiny_deb.js";
import { fakeBoot, mirrorObstacle, tinyPackages, TinyMirror, tinyRecipe } from "./tiny_mirror.js";

/** A mirror of its own, an agent, and a fresh cache folder for each test of a file. */
export interface TinyWorld {
  readonly folder: string;
  readonly agent: string;
  readonly mirror: TinyMirror;
  /** Of the test that runs. */
  readonly cacheDir: string;
  readonly build: (options?: Partial<BuildOptions>) => Promise<ImageInfo>;
  /** Nothing that could be taken for an image, a root, or work in progress. */
  readonly expectNothing: (cacheDir?: string) => void;
}

/** Why a test file cannot have a world here, or null. */
export const worldObstacle = mirrorObstacle();
/** For the title of what is skipped. */
export const worldMark = worldObstacle === null ? "" : ` (skipped: ${worldObstacle})`;

/** Makes the world before the tests of a `describe`, and removes it after them. */
export function tinyWorld(): TinyWorld {
  const folder = scratchFolder();
  const agent = join(folder, "agent");
  let mirror: TinyMirror | undefined;
  let count = 0;
  const cacheDir = (): string => join(folder, `cache-${count}`);
  const theMirror = (): TinyMirror => {
    if (mirror === undefined) throw new Error("the mirror has not been started");
    return mirror;
  };

  beforeAll(async () => {
    process.env["no_proxy"] = "127.0.0.1";
    mirror = await TinyMirror.start(folder);
  });
  afterAll(async () => {
    await mirror?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    count += 1;
    mkdirSync(cacheDir());
    writeFileSync(agent, "the agent");
    theMirror().publish(tinyPackages());
    theMirror().requests.length = 0;
  });

  return {
    folder,
    agent,
    get mirror() {
      return theMirror();
    },
    get cacheDir() {
      return cacheDir();
    },
    build: (options = {}) =>
      buildRecipe(
        tinyRecipe,
        {
          cacheDir: cacheDir(),
          agent,
          mirror: theMirror().url,
          runFinishingBoot: fakeBoot(),
          ...options,
        },
        [theMirror().keyring],
      ),
    expectNothing: (where = cacheDir()) => {
      expect(listImages(where)).toEqual([]);
      expect(imageNames(where)).toEqual([]);
      for (const name of ["roots", "images-tmp"])
        expect(existsSync(join(where, name)) ? readdirSync(join(where, name)) : []).toEqual([]);
      expect(existsSync(join(where, "images-lock"))).toBe(false);
    },
  };
}
