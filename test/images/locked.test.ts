import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildRecipe } from "../../src/images/build.js";
import { openImage } from "../../src/images/index.js";
import { readManifest } from "../../src/images/manifest.js";
import type { BuildOptions } from "../../src/images/types.js";
import { fakeBoot, tinyPackages, tinyRecipe } from "./support/tiny_mirror.js";
import { tinyWorld, worldMark, worldObstacle } from "./support/tiny_world.js";

describe.skipIf(worldObstacle !== null)(`a former image's manifest${worldMark}`, () => {
  const world = tinyWorld();
  const { folder, agent, build } = world;

  it("rebuilds a former image exactly from its manifest, without the network where the packages are there", async () => {
    const first = await build();
    const manifest = join(folder, "former.json");
    writeFileSync(manifest, readFileSync(first.manifest));
    world.mirror.publish(tinyPackages("2.0-1"), "Sun, 22 Nov 2026 00:00:00 UTC");
    await build({ refresh: true });
    for (const name of ["roots", "images"]) rmSync(join(world.cacheDir, name), { recursive: true });
    world.mirror.requests.length = 0;
    expect((await build({ locked: manifest })).digest).toBe(first.digest);
    expect(world.mirror.requests).toEqual([]);
  });

  it("does not pass off an image of a changed recipe, or other bytes, as the former one", async () => {
    const first = await build();
    rmSync(join(world.cacheDir, "roots"), { recursive: true });
    const other = { ...tinyRecipe, diskMiB: 2 };
    const options = {
      cacheDir: world.cacheDir,
      agent,
      mirror: world.mirror.url,
      locked: first.manifest,
      runFinishingBoot: fakeBoot(),
    };
    await expect(buildRecipe(other, options, [world.mirror.keyring])).rejects.toThrow(
      /recipe of tiny has changed/,
    );
    const random: BuildOptions["runFinishingBoot"] = async (boot) => {
      const result = await fakeBoot()(boot);
      const disk = readFileSync(boot.disk.path);
      disk.write("different", 8192);
      writeFileSync(boot.disk.path, disk);
      return result;
    };
    await expect(build({ locked: first.manifest, runFinishingBoot: random })).rejects.toThrow(
      /did not give the bytes/,
    );
  });

  it("names the packages of a locked image that have gone", async () => {
    const first = await build();
    world.mirror.publish(tinyPackages("2.0-1"));
    const elsewhere = build({ locked: first.manifest, cacheDir: `${world.cacheDir}-elsewhere` });
    await expect(elsewhere).rejects.toMatchObject({
      code: "image_build_failed",
      message: expect.stringMatching(/no longer has .*: extra 1\.0-1$/) as string,
    });
  });

  it("names a version that never was, though the image that it was taken from is in the cache", async () => {
    const first = await build();
    const edited = join(folder, "edited.json");
    writeFileSync(
      edited,
      readFileSync(first.manifest, "utf8").replace(
        /("name": "libextra",\s*"version": )"1.0-1"/,
        '$1"1.0-99"',
      ),
    );
    await expect(build({ locked: edited })).rejects.toMatchObject({
      code: "image_build_failed",
      message: expect.stringMatching(/no longer has these packages: libextra 1\.0-99$/) as string,
    });
    expect(openImage("tiny", world.cacheDir)).toEqual(first);
  });

  it("does not serve for a cached root of the same packages but other bytes", async () => {
    const first = await build();
    const edited = join(folder, "edited.json");
    const { root } = readManifest(first.manifest).files;
    writeFileSync(edited, readFileSync(first.manifest, "utf8").replaceAll(root.sha256, "0".repeat(64)));
    await expect(build({ locked: edited })).rejects.toThrow(/did not give the bytes/);
  });

  it("refuses a manifest with an unknown key, and one of another image", async () => {
    const first = await build();
    const text = readFileSync(first.manifest, "utf8");
    const changed = join(folder, "changed.json");
    writeFileSync(changed, text.replace('"format"', '"fromat"'));
    await expect(build({ locked: changed })).rejects.toMatchObject({ code: "bad_request" });
    writeFileSync(
      changed,
      text
        .replace('"name": "tiny"', '"name": "other"')
        .replace(/"rootKey": "\w+"/, `"rootKey": "${"0".repeat(64)}"`),
    );
    await expect(build({ locked: changed })).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("other") as string,
    });
  });
});
