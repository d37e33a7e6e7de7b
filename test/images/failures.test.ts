import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { tinyPackages, TinyMirror } from "./support/tiny_mirror.js";
import { tinyWorld, worldMark, worldObstacle } from "./support/tiny_world.js";

describe.skipIf(worldObstacle !== null)(`a build that cannot go on${worldMark}`, () => {
  const world = tinyWorld();
  const { build } = world;

  it("stops at a release that a stranger signed, and leaves nothing", async () => {
    const stranger = `${world.cacheDir}-stranger`;
    mkdirSync(stranger);
    const other = await TinyMirror.start(stranger);
    try {
      other.publish(tinyPackages());
      await expect(build({ mirror: other.url })).rejects.toMatchObject({ code: "signature_invalid" });
    } finally {
      await other.stop();
    }
    world.expectNothing();
  });

  it("stops at an altered package, and leaves nothing", async () => {
    world.mirror.tamper("libextra_1.0-1.deb", (body) => {
      const altered = Buffer.from(body);
      altered[altered.length - 1] = (altered[altered.length - 1] ?? 0) ^ 1;
      return altered;
    });
    await expect(build()).rejects.toMatchObject({ code: "hash_mismatch" });
    world.expectNothing();
    world.mirror.publish(tinyPackages());
    expect((await build()).name).toBe("tiny");
  });

  it("stops at an altered package index, and leaves nothing", async () => {
    world.mirror.tamper("/Packages", (body) => Buffer.from(body.toString().replace("libextra", "libevil_")));
    await expect(build()).rejects.toMatchObject({ code: "hash_mismatch" });
    world.expectNothing();
  });

  it("stops at an altered release, and leaves nothing", async () => {
    world.mirror.tamper("/InRelease", (body) =>
      Buffer.from(body.toString().replace("Origin: Tiny", "Origin: Tini")),
    );
    await expect(build()).rejects.toMatchObject({ code: "signature_invalid" });
    world.expectNothing();
  });

  it("stops at a download that breaks off, leaves nothing, and fetches only the rest later", async () => {
    world.mirror.broken = "libextra_1.0-1.deb";
    await expect(build()).rejects.toMatchObject({
      code: "image_build_failed",
      message: expect.stringContaining("libextra_1.0-1.deb") as string,
      retry: true,
    });
    world.expectNothing();
    world.mirror.broken = undefined;
    world.mirror.requests.length = 0;
    expect((await build()).name).toBe("tiny");
    expect(world.mirror.requests.filter((path) => path.endsWith(".deb"))).toEqual([
      "/debian/pool/main/libextra_1.0-1.deb",
    ]);
  });

  it("stops at a package that the mirror lists but does not have, and leaves nothing", async () => {
    world.mirror.remove("libextra_1.0-1.deb");
    await expect(build()).rejects.toMatchObject({
      code: "image_build_failed",
      message: expect.stringContaining("libextra_1.0-1.deb") as string,
    });
    world.expectNothing();
  });

  it("stops when the mirror is not there", async () => {
    await expect(build({ mirror: "http://127.0.0.1:9/debian" })).rejects.toMatchObject({
      code: "image_build_failed",
    });
    world.expectNothing();
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
    world.expectNothing();
    await expect(
      build({ runFinishingBoot: () => Promise.resolve({ ok: false, reason: "panic" }) }),
    ).rejects.toThrow(/panic/);
    await expect(
      build({ runFinishingBoot: () => Promise.resolve({ ok: true, reason: "power-off" }) }),
    ).rejects.toThrow(/before it had finished/);
    world.expectNothing();
  });
});
