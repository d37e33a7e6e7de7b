import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, rmdirSync, rmSync, statfsSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openImage } from "../../src/images/index.js";
import type { BuildOptions } from "../../src/images/types.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";
import { scratchFolder } from "./support/tiny_deb.js";
import { fakeBoot, tinyPackages } from "./support/tiny_mirror.js";
import { tinyWorld, worldObstacle } from "./support/tiny_world.js";
import { writingGuest } from "./support/writing_guest.js";

/** Room that no build of these tests uses up; a tmpfs takes memory only for what is written. */
const ample = "2g";
/** A disk cannot be made smaller than what it holds, and that grows while it is measured, bytes. */
const slack = 8 << 20;

/** A real disk of its own, which can be filled up at any moment by making it no larger than what it holds. */
class SmallDisk {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  mount(size: string): void {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "shinken-test", this.folder]);
  }

  /** Makes room again. */
  empty(): void {
    rmSync(this.filler, { force: true });
    this.resize(ample);
  }

  resize(size: string): void {
    execFileSync("mount", ["-o", `remount,size=${size}`, this.folder]);
  }

  /** Leaves not a byte, whoever else is writing meanwhile. */
  fill(): void {
    if (existsSync(this.filler)) return;
    const { blocks, bfree, bsize } = statfsSync(this.folder);
    this.resize(String((blocks - bfree) * bsize + slack));
    try {
      for (;;) appendFileSync(this.filler, Buffer.alloc(bsize));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }

  private get filler(): string {
    return join(this.folder, "filler");
  }

  unmount(): void {
    execFileSync("umount", ["--lazy", this.folder]);
  }
}

/** Why no disk can be mounted here, or null. */
function mountObstacle(): string | null {
  const folder = scratchFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "shinken-test", folder]).status === 0;
  if (mounted) execFileSync("umount", [folder]);
  rmdirSync(folder);
  return mounted ? null : "only root may mount a disk";
}

const obstacle = worldObstacle ?? mountObstacle();

describe.skipIf(obstacle !== null)(
  `a build whose disk is full${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    const world = tinyWorld();
    let disk: SmallDisk;

    beforeEach(() => {
      disk = new SmallDisk(world.cacheDir);
      disk.mount(ample);
      return () => {
        disk.unmount();
      };
    });

    /** It says that the disk is full, leaves nothing, and once there is room the same build succeeds. */
    const expectFull = async (options: Partial<BuildOptions> = {}, message = ""): Promise<void> => {
      await expect(world.build(options)).rejects.toMatchObject({
        code: "disk_full",
        message: expect.stringContaining(message) as string,
        suggestion: expect.stringContaining("SHINKEN_CACHE") as string,
        retry: true,
      });
      world.expectNothing();
      world.mirror.onRequest = () => undefined;
      disk.empty();
      expect((await world.build()).name).toBe("tiny");
    };

    it("before it begins says so", async () => {
      disk.fill();
      await expectFull();
    });

    it("when the package lists come says so", async () => {
      disk.resize("64k");
      await expectFull({}, "fetching the package lists");
    });

    const large = { "usr/lib/locale/xx_XX/LC_TIME": { data: randomBytes(2e6).toString("hex") } };
    const withLarge = tinyPackages().map((each) =>
      each.name === "locales-all" ? { ...each, files: large } : each,
    );

    it("before the packages come says how much they need", async () => {
      world.mirror.publish(withLarge);
      disk.resize("5m");
      await expectFull({}, "the packages need 3 MB");
      expect(world.mirror.requests.filter((path) => path.endsWith(".deb")).length).toBe(7);
    });

    it("while the packages come says so", async () => {
      world.mirror.publish(withLarge);
      world.mirror.onRequest = (path) => {
        if (path.endsWith("locales-all_1.0-1.deb")) disk.fill();
      };
      await expectFull({}, "fetching packages");
    });

    it("before anything is unpacked says how much a build needs", async () => {
      disk.resize("100m");
      await expectFull({}, "needs 800 MB");
    });

    it("when the packages are unpacked says so", async () => {
      await expectFull({
        onProgress: ({ stage, done }) => {
          if (stage === "tree" && done > 0) disk.fill();
        },
      });
    });

    it("when the guest writes says so, though the guest itself has not noticed", async (context) => {
      const unavailable = await machinesUnavailable();
      if (unavailable !== null) return context.skip(unavailable);
      const guest = await writingGuest(openImage(TEST_IMAGE), world.folder);
      if (guest === undefined) return context.skip("the image's packages are no longer in the cache");
      let console = "";
      await expectFull(
        {
          runFinishingBoot: async (boot) => {
            disk.fill();
            const onConsole = (text: string): void => {
              console += text;
              boot.onConsole(text);
            };
            const outcome = await guest({ ...boot, onConsole });
            expect(outcome.ok).toBe(true);
            return outcome;
          },
        },
        "a machine's disk could not be written",
      );
      expect(console).toMatch(/^@finish done [0-9a-f]{64}/m);
    });

    it("when the root is whole but not its record says so", async () => {
      await expectFull({
        runFinishingBoot: async (boot) => {
          const result = await fakeBoot()(boot);
          // The host will cut off nothing, which would make room.
          truncateSync(boot.disk.path, 3 * 4096);
          disk.fill();
          return result;
        },
      });
    });
  },
);
