import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildImage, buildRecipe } from "../../src/images/build.js";
import { imageNames, listImages, openImage } from "../../src/images/index.js";
import { buildFailure, sha256 } from "../../src/images/files.js";
import { readManifest } from "../../src/images/manifest.js";
import type { BuildOptions, ImageInfo, ImageProgress } from "../../src/images/types.js";
import { readCpio } from "./support/cpio_reader.js";
import { fakeBoot, mirrorObstacle, tinyPackages, TinyMirror, tinyRecipe } from "./support/tiny_mirror.js";
import { scratchFolder } from "./support/tiny_deb.js";

const obstacle = mirrorObstacle();

describe.skipIf(obstacle !== null)(
  `building an image${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    const folder = scratchFolder();
    const agent = join(folder, "agent");
    let mirror: TinyMirror;
    let cacheDir: string;
    let count = 0;

    beforeAll(async () => {
      process.env["no_proxy"] = "127.0.0.1";
      mirror = await TinyMirror.start(folder);
    });
    afterAll(async () => {
      await mirror.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(() => {
      count += 1;
      cacheDir = join(folder, `cache-${count}`);
      writeFileSync(agent, "the agent");
      mirror.publish(tinyPackages());
      mirror.requests.length = 0;
    });

    const build = (options: Partial<BuildOptions> = {}): Promise<ImageInfo> =>
      buildRecipe(
        tinyRecipe,
        { cacheDir, agent, mirror: mirror.url, runFinishingBoot: fakeBoot(), ...options },
        [mirror.keyring],
      );
    /** Nothing that could be taken for an image, a root, or work in progress. */
    const expectNothing = (): void => {
      expect(listImages(cacheDir)).toEqual([]);
      expect(imageNames(cacheDir)).toEqual([]);
      for (const name of ["roots", "images-tmp"])
        expect(existsSync(join(cacheDir, name)) ? readdirSync(join(cacheDir, name)) : []).toEqual([]);
      expect(existsSync(join(cacheDir, "images-lock"))).toBe(false);
    };

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
      expect(openImage("tiny", cacheDir)).toEqual(info);
      expect(openImage(info.digest.slice(0, 10), cacheDir)).toEqual(info);
      expect(listImages(cacheDir)).toEqual([info]);
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
      const second = await build({ cacheDir: join(folder, `again-${count}`) });
      expect(second.digest).toBe(first.digest);
      expect(readFileSync(second.manifest).equals(readFileSync(first.manifest))).toBe(true);
    });

    it("asks nobody when the image is there, and a new agent only changes the initial root", async () => {
      const first = await build();
      mirror.requests.length = 0;
      const noBoot = { runFinishingBoot: () => Promise.reject(new Error("a second boot")) };
      expect(await build(noBoot)).toEqual(first);
      writeFileSync(agent, "another agent");
      const second = await build(noBoot);
      expect(mirror.requests).toEqual([]);
      expect(second.digest).not.toBe(first.digest);
      const sums = [first, second].map((info) => readManifest(info.manifest).files);
      expect(sums[0]?.root).toEqual(sums[1]?.root);
      expect(sums[0]?.kernel).toEqual(sums[1]?.kernel);
      expect(openImage("tiny", cacheDir).digest).toBe(second.digest);
      expect(listImages(cacheDir).length).toBe(2);
    });

    it("does not boot an image whose files are not whole, and repairs it when it is built again", async () => {
      const info = await build();
      rmSync(info.initrd);
      expect(() => openImage("tiny", cacheDir)).toThrow(
        expect.objectContaining({
          code: "image_missing",
          message: expect.stringContaining("initrd is missing"),
        }),
      );
      writeFileSync(info.initrd, "short");
      expect(() => openImage("tiny", cacheDir)).toThrow(/initrd has 5 bytes instead of/);
      expect(await build()).toEqual(info);
      expect(openImage("tiny", cacheDir)).toEqual(info);
    });

    it("takes newer packages only when asked to, and then fetches only what is new", async () => {
      const first = await build();
      mirror.publish(tinyPackages("2.0-1"));
      expect(await build()).toEqual(first);
      mirror.requests.length = 0;
      const second = await build({ refresh: true });
      expect(second.digest).not.toBe(first.digest);
      expect(readManifest(second.manifest).packages.map((entry) => `${entry.name} ${entry.version}`)).toEqual(
        ["base-files 1.0-1", "extra 2.0-1", "libextra 1.0-1"],
      );
      expect(mirror.requests.filter((path) => path.endsWith(".deb"))).toEqual([
        "/debian/pool/main/extra_2.0-1.deb",
      ]);
    });

    it("rebuilds a former image exactly from its manifest, without the network where the packages are there", async () => {
      const first = await build();
      const manifest = join(folder, "former.json");
      writeFileSync(manifest, readFileSync(first.manifest));
      mirror.publish(tinyPackages("2.0-1"), "Sun, 22 Nov 2026 00:00:00 UTC");
      await build({ refresh: true });
      for (const name of ["roots", "images"]) rmSync(join(cacheDir, name), { recursive: true });
      mirror.requests.length = 0;
      expect((await build({ locked: manifest })).digest).toBe(first.digest);
      expect(mirror.requests).toEqual([]);
    });

    it("does not pass off an image of a changed recipe, or other bytes, as the former one", async () => {
      const first = await build();
      rmSync(join(cacheDir, "roots"), { recursive: true });
      const other = { ...tinyRecipe, diskMiB: 2 };
      const options = {
        cacheDir,
        agent,
        mirror: mirror.url,
        locked: first.manifest,
        runFinishingBoot: fakeBoot(),
      };
      await expect(buildRecipe(other, options, [mirror.keyring])).rejects.toThrow(
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
      mirror.publish(tinyPackages("2.0-1"));
      const elsewhere = build({ locked: first.manifest, cacheDir: join(folder, `locked-${count}`) });
      await expect(elsewhere).rejects.toMatchObject({
        code: "image_build_failed",
        message: expect.stringMatching(/no longer has .*: extra 1\.0-1$/) as string,
      });
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

    it("stops at a release that a stranger signed, and leaves nothing", async () => {
      const stranger = join(folder, `stranger-${count}`);
      mkdirSync(stranger);
      const other = await TinyMirror.start(stranger);
      try {
        other.publish(tinyPackages());
        await expect(build({ mirror: other.url })).rejects.toMatchObject({ code: "signature_invalid" });
      } finally {
        await other.stop();
      }
      expectNothing();
    });

    it("stops at an altered package, and leaves nothing", async () => {
      mirror.tamper("libextra_1.0-1.deb", (body) => {
        const altered = Buffer.from(body);
        altered[altered.length - 1] = (altered[altered.length - 1] ?? 0) ^ 1;
        return altered;
      });
      await expect(build()).rejects.toMatchObject({ code: "hash_mismatch" });
      expectNothing();
      mirror.publish(tinyPackages());
      expect((await build()).name).toBe("tiny");
    });

    it("stops when the mirror is not there", async () => {
      await expect(build({ mirror: "http://127.0.0.1:9/debian" })).rejects.toMatchObject({
        code: "image_build_failed",
      });
      expectNothing();
    });

    it("stops when the finishing boot fails, says why, and leaves nothing", async () => {
      const failing = build({
        runFinishingBoot: (boot) => {
          boot.onConsole("dpkg: error processing package extra\n@finish fail configure\n");
          return Promise.resolve({ ok: true, reason: "power-off" });
        },
      });
      await expect(failing).rejects.toMatchObject({
        code: "image_build_failed",
        message: expect.stringMatching(/configure[^]*processing package extra/) as string,
      });
      expectNothing();
      await expect(
        build({ runFinishingBoot: () => Promise.resolve({ ok: false, reason: "panic" }) }),
      ).rejects.toThrow(/panic/);
      await expect(
        build({ runFinishingBoot: () => Promise.resolve({ ok: true, reason: "power-off" }) }),
      ).rejects.toThrow(/before it had finished/);
      expectNothing();
    });

    it("calls a full disk a full disk", async () => {
      const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      await expect(build({ runFinishingBoot: () => Promise.reject(full) })).rejects.toMatchObject({
        code: "disk_full",
        retry: true,
      });
      expectNothing();
      expect(buildFailure(Object.assign(new Error("x"), { code: "EDQUOT" })).code).toBe("disk_full");
    });

    it("never shows an image before it is whole", async () => {
      await build({
        runFinishingBoot: (boot) => {
          expect(listImages(cacheDir)).toEqual([]);
          expect(() => openImage("tiny", cacheDir)).toThrow(
            expect.objectContaining({ code: "image_missing" }),
          );
          return fakeBoot()(boot);
        },
      });
      expect(listImages(cacheDir).length).toBe(1);
      expect(readdirSync(join(cacheDir, "images-tmp"))).toEqual([]);
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
      mkdirSync(join(cacheDir, "images-lock"), { recursive: true });
      writeFileSync(join(cacheDir, "images-lock", "owner"), "999999999 1");
      mkdirSync(join(cacheDir, "images-tmp", "build-999999999-abc"), { recursive: true });
      expect((await build()).name).toBe("tiny");
      expect(readdirSync(join(cacheDir, "images-tmp"))).toEqual([]);
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
  },
);

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
      code: "image_missing",
      suggestion: "did you mean shell?",
    });
    const cacheDir = scratchFolder();
    await expect(
      buildImage("shell", { cacheDir, agent: join(cacheDir, "none"), runFinishingBoot }),
    ).rejects.toMatchObject({ suggestion: "make build" });
    rmSync(cacheDir, { recursive: true });
  });
});
