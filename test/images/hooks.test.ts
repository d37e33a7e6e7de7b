import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildRecipe } from "../../src/images/build.js";
import { readManifest } from "../../src/images/manifest.js";
import { type ImageHook, recipes } from "../../src/images/recipe.js";
import { checkHooks, maxHookNameBytes, maxHooks } from "../../src/images/root/hooks.js";
import type { BuildOptions, ImageInfo } from "../../src/images/types.js";
import { readCpio } from "./support/cpio_reader.js";
import { scratchFolder } from "./support/tiny_deb.js";
import { fakeBoot, mirrorObstacle, tinyPackages, TinyMirror, tinyRecipe } from "./support/tiny_mirror.js";

const obstacle = mirrorObstacle();
const script = "#!/bin/sh\nexit 0\n";
const native = (path: string): string =>
  readFileSync(new URL(`../../native/agent/${path}`, import.meta.url), "utf8");

describe("the hooks of a recipe", () => {
  it.each([
    ["a folder in its name", [{ name: "a/b", script }], /hook a\/b/],
    ["a name that begins with a dot", [{ name: ".a", script }], /hook \.a/],
    ["a name too long", [{ name: "a".repeat(48), script }], /at most 47/],
    ["a name twice", [1, 2].map(() => ({ name: "a", script })), /two of that name/],
    ["no interpreter", [{ name: "a", script: "exit 0\n" }], /#!\//],
    ["too many", "123456789".split("").map((name) => ({ name, script })), /at most 8 hooks/],
  ])("are refused with %s", (_what, hooks, why) => {
    expect(() => {
      checkHooks(hooks);
    }).toThrow(
      expect.objectContaining({
        code: "image_build_failed",
        path: expect.stringMatching(/^hooks\[\d\]$/) as string,
        message: expect.stringMatching(why) as string,
      }),
    );
  });

  it("have the agent's own bounds", () => {
    const limits = native("agent/limits.h");
    expect(limits).toContain(`#define HOOKS_MAX ${maxHooks} `);
    expect(limits).toContain(`#define HOOK_NAME_BYTES ${maxHookNameBytes + 1}u `);
  });

  it("are none in the shell image", () => {
    expect(recipes.get("shell")?.hooks).toBeUndefined();
  });
});

describe.skipIf(obstacle !== null)(
  `building an image with hooks${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    const folder = scratchFolder();
    const agent = join(folder, "agent");
    let mirror: TinyMirror;
    let cacheDir: string;
    let count = 0;

    beforeAll(async () => {
      process.env["no_proxy"] = "127.0.0.1";
      mirror = await TinyMirror.start(folder);
      mirror.publish(tinyPackages());
      writeFileSync(agent, "the agent");
    });
    afterAll(async () => {
      await mirror.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(() => {
      count += 1;
      cacheDir = join(folder, `cache-${count}`);
      mkdirSync(cacheDir);
      mirror.requests.length = 0;
    });

    const build = (hooks: readonly ImageHook[], more: Partial<BuildOptions> = {}): Promise<ImageInfo> =>
      buildRecipe(
        { ...tinyRecipe, hooks },
        { cacheDir, agent, mirror: mirror.url, runFinishingBoot: fakeBoot(), ...more },
        [mirror.keyring],
      );

    it("puts them where the agent looks, executable, and makes a root of its own for each", async () => {
      const seen: { initrd: Buffer[] } = { initrd: [] };
      const hooked = await build([{ name: "10-key", script }], { runFinishingBoot: fakeBoot(seen) });
      const place = /#define HOOKS_FOLDER "\/(.*)"/.exec(native("agent/hooks.c"))?.[1] ?? "";
      const members = new Map(readCpio(seen.initrd[0] ?? Buffer.alloc(0)).map((one) => [one.path, one]));
      expect(members.get(`target/${place}/10-key`)).toMatchObject({ mode: 0o100755, uid: 0, gid: 0 });
      expect(members.get(`target/${place}/10-key`)?.data.toString()).toBe(script);
      const changed = await build([{ name: "10-key", script: `${script}# another\n` }]);
      const plain = await build([]);
      const keys = [hooked, changed, plain].map((info) => readManifest(info.manifest).rootKey);
      expect(new Set(keys).size).toBe(3);
    });

    it("refuses a wrong one before it asks anybody, and leaves nothing", async () => {
      await expect(build([{ name: "a", script: "" }])).rejects.toMatchObject({
        code: "image_build_failed",
        path: "hooks[0]",
      });
      expect(mirror.requests).toEqual([]);
      expect(existsSync(join(cacheDir, "images"))).toBe(false);
    });
  },
);
