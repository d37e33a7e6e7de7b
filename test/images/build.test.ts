import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildImage } from "../../src/images/build.js";
import { listImages, openImage } from "../../src/images/index.js";
import { sha256 } from "../../src/images/files.js";
import { readManifest } from "../../src/images/manifest.js";
import type { BuildOptions, ImageProgress } from "../../src/images/types.js";
import { readCpio } from "./support/cpio_reader.js";
import { fakeBoot, tinyPackages } from "./support/tiny_mirror.js";
import { scratchFolder } from "./support/tiny_deb.js";
import { tinyWorld, worldMark, worldObstacle } from "./support/tiny_world.js";

describe.skipIf(worldObstacle !== null)(`building an image${worldMark}`, () => {
  const world = tinyWorld();
  const { agent, build } = world;

  it("leaves kernel, initial root, root and a manifest that names every package", async () => {
    const info = await build();
    const manifest = readManifest(info.manifest);
    expect(manifest.packages.map((entry) => entry.name)).toEqual(["base-files", "extra", "libextra"]);
    expect(manifest.tools.map((entry) => entry.name)).toEqual(["busybox-static", "erofs-utils"]);
    expect(manifest.kernelPackage.name).toBe("linux-image-9-riscv64");
    for (const [path, entry] of [
      [info.kernel, manifest.files.kernel],
      [info.initrd, manifest.files.initrd],
      [info.root, manifest.files.root],
    ] as const) {
      expect(sha256(readFileSync(path))).toBe(entry.sha256);
    }
    expect(statSync(info.root).size).toBe(3 * 4096);
    expect(info.releaseDate).toBe(Date.UTC(2026, 10, 21, 9, 15, 44) / 1000);
    expect(openImage("tiny", world.cacheDir)).toEqual(info);
    expect(openImage(info.digest.slice(0, 10), world.cacheDir)).toEqual(info);
    expect(listImages(world.cacheDir)).toEqual([info]);
  });

  it("boots the unpacked packages, the tools and the locale once", async () => {
    const seen: { initrd: Buffer[] } = { initrd: [] };
    await build({ runFinishingBoot: fakeBoot(seen) });
    expect(seen.initrd.length).toBe(1);
    const byPath = new Map(
      readCpio(seen.initrd[0] ?? Buffer.alloc(0)).map((member) => [member.path, member]),
    );
    expect(byPath.get("target/usr/bin/extra")?.data.toString()).toBe("version 1.0-1");
    expect(byPath.get("target/usr/lib/locale/xx_XX/LC_TIME")?.data.toString()).toBe("noon");
    expect(byPath.get("target/var/lib/dpkg/status")?.data.toString()).toContain(
      "Package: libextra\nStatus: install ok unpacked",
    );
    expect(byPath.get("tools/usr/bin/mkfs.erofs")).toBeDefined();
    expect(byPath.get("bin/busybox")?.mode).toBe(0o100755);
    expect(byPath.get("finish.conf")?.data.toString()).toMatch(/^EPOCH=\d+\nUUID=[0-9a-f-]{36}\n$/);
    expect([...byPath.keys()].filter((path) => path.includes("linux-image"))).toEqual([]);
  });

  it("gives the same bytes in another cache folder", async () => {
    const first = await build();
    const second = await build({ cacheDir: `${world.cacheDir}-again` });
    expect(second.digest).toBe(first.digest);
    expect(readFileSync(second.manifest).equals(readFileSync(first.manifest))).toBe(true);
  });

  it("asks nobody when the image is there, and a new agent only changes the initial root", async () => {
    const first = await build();
    world.mirror.requests.length = 0;
    const noBoot = { runFinishingBoot: () => Promise.reject(new Error("a second boot")) };
    expect(await build(noBoot)).toEqual(first);
    writeFileSync(agent, "another agent");
    const second = await build(noBoot);
    expect(world.mirror.requests).toEqual([]);
    expect(second.digest).not.toBe(first.digest);
    const sums = [first, second].map((info) => readManifest(info.manifest).files);
    expect(sums[0]?.root).toEqual(sums[1]?.root);
    expect(sums[0]?.kernel).toEqual(sums[1]?.kernel);
    expect(openImage("tiny", world.cacheDir).digest).toBe(second.digest);
    expect(listImages(world.cacheDir).length).toBe(2);
  });

  it("does not boot an image whose files are not whole, and repairs it when it is built again", async () => {
    const info = await build();
    rmSync(info.initrd);
    expect(() => openImage("tiny", world.cacheDir)).toThrow(
      expect.objectContaining({
        code: "image_missing",
        message: expect.stringContaining("initrd is missing") as string,
      }),
    );
    writeFileSync(info.initrd, "short");
    expect(() => openImage("tiny", world.cacheDir)).toThrow(/initrd has 5 bytes instead of/);
    expect(await build()).toEqual(info);
    expect(openImage("tiny", world.cacheDir)).toEqual(info);
  });

  it("takes newer packages only when asked to, and then fetches only what is new", async () => {
    const first = await build();
    world.mirror.publish(tinyPackages("2.0-1"));
    expect(await build()).toEqual(first);
    world.mirror.requests.length = 0;
    const second = await build({ refresh: true });
    expect(second.digest).not.toBe(first.digest);
    expect(readManifest(second.manifest).packages.map((entry) => `${entry.name} ${entry.version}`)).toEqual([
      "base-files 1.0-1",
      "extra 2.0-1",
      "libextra 1.0-1",
    ]);
    expect(world.mirror.requests.filter((path) => path.endsWith(".deb"))).toEqual([
      "/debian/pool/main/extra_2.0-1.deb",
    ]);
  });

  it("never shows an image before it is whole", async () => {
    await build({
      runFinishingBoot: (boot) => {
        expect(listImages(world.cacheDir)).toEqual([]);
        expect(() => openImage("tiny", world.cacheDir)).toThrow(
          expect.objectContaining({ code: "image_missing" }),
        );
        return fakeBoot()(boot);
      },
    });
    expect(listImages(world.cacheDir).length).toBe(1);
    expect(readdirSync(join(world.cacheDir, "images-tmp"))).toEqual([]);
  });

  it("makes two builders take turns, and the second finds the first one's work", async () => {
    let boots = 0;
    const runFinishingBoot: BuildOptions["runFinishingBoot"] = (boot) => {
      boots += 1;
      return fakeBoot()(boot);
    };
    const [one, two] = await Promise.all([build({ runFinishingBoot }), build({ runFinishingBoot })]);
    expect(two).toEqual(one);
    expect(boots).toBe(1);
  });

  it("takes over the lock and the leftovers of a builder who died", async () => {
    mkdirSync(join(world.cacheDir, "images-lock"), { recursive: true });
    writeFileSync(join(world.cacheDir, "images-lock", "owner"), "999999999 1");
    mkdirSync(join(world.cacheDir, "images-tmp", "build-999999999-abc"), { recursive: true });
    expect((await build()).name).toBe("tiny");
    expect(readdirSync(join(world.cacheDir, "images-tmp"))).toEqual([]);
  });

  it("tells how far it is", async () => {
    const events: ImageProgress[] = [];
    await build({ onProgress: (event) => events.push(event) });
    expect([...new Set(events.map((event) => event.stage))]).toEqual(["packages", "tree", "boot", "image"]);
    for (const event of events) expect(event.done).toBeLessThanOrEqual(event.total);
    events.length = 0;
    await build({ onProgress: (event) => events.push(event) });
    expect(events.map((event) => [event.stage, event.text])).toEqual([
      ["packages", "cached"],
      ["image", "cached"],
    ]);
  });
});

describe("an image that is not there", () => {
  it("is an error that says how to get it", () => {
    const cacheDir = scratchFolder();
    expect(() => openImage("shell", cacheDir)).toThrow(
      expect.objectContaining({ code: "image_missing", suggestion: "build it: shinken image build shell" }),
    );
    expect(listImages(join(cacheDir, "nothing"))).toEqual([]);
    rmSync(cacheDir, { recursive: true });
  });

  it("cannot be built without a recipe or without the agent", async () => {
    const runFinishingBoot = fakeBoot();
    await expect(buildImage("shel", { runFinishingBoot })).rejects.toMatchObject({
      code: "bad_request",
      path: "name",
      suggestion: "did you mean shell?",
    });
    const cacheDir = scratchFolder();
    await expect(
      buildImage("shell", { cacheDir, agent: join(cacheDir, "none"), runFinishingBoot }),
    ).rejects.toMatchObject({ suggestion: "make build" });
    rmSync(cacheDir, { recursive: true });
  });
});
