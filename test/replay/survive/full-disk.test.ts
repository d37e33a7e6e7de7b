import { execFileSync, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { check, readBundle, recover } from "../../../src/replay/index.js";
import { againstIndex, bundles, recordedEcho, recorder, say, scratch } from "../support/recording.js";

/** Why no disk can be mounted here, or null. */
function mountObstacle(): string | null {
  const folder = scratchBeforeTests();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "shinken-test", folder]).status === 0;
  if (mounted) execFileSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return mounted ? null : "only root may mount a disk";
}

function scratchBeforeTests(): string {
  return execFileSync("mktemp", ["-d"], { encoding: "utf8" }).trim();
}

const obstacle = mountObstacle();

describe.skipIf(obstacle !== null)(
  `a disk that is full${obstacle === null ? "" : ` (skipped: ${obstacle})`}`,
  () => {
    it.each(["a bundle", "content beside it"])(
      "stops recording %s with an infra event; the session goes on, and so does recording once there is room",
      async (what) => {
        const folder = scratch();
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "shinken-test", folder]);
        onTestFinished(() => {
          execFileSync("umount", ["--lazy", folder]);
        });
        const into = recorder({ folder });
        const environment = recordedEcho(into);
        const codes: string[] = [];
        environment.onEvent((event) => {
          if (event.event === "infra") codes.push(event.code);
        });
        const noise = (length: number) =>
          Array.from({ length }, () => Math.random().toString(36).slice(2, 12)).join("");
        await environment.reset();
        let steps = 0;
        for (; codes.length === 0; steps += 1) {
          await environment.step([say(noise(what === "a bundle" ? 300 : 6_000))]);
          if (steps > 5_000) throw new Error("the disk never got full");
        }
        expect(codes).toEqual(["disk_full"]);
        expect((await environment.step([say("on")])).info).toMatchObject({ step: steps + 1 });
        const broken = bundles(folder)[0] ?? "";
        const { end, steps: kept } = await readBundle(broken);
        expect(end.finished).toBe(false);
        expect(kept.length).toBeGreaterThan(1);
        // A writer that stopped cuts off what did not fit: there is not one byte that is not a whole record's.
        expect((await check(broken)).map(({ status }) => status)).toEqual(["unfinished"]);

        execFileSync("mount", ["-o", "remount,size=8m", folder]);
        await environment.reset();
        await environment.step([say("again")]);
        await environment.close();
        expect(codes).toHaveLength(1);
        expect(await againstIndex(folder)).toEqual({ equal: 1, wrong: [] });
        expect((await recover(folder)).map(({ status }) => status).sort()).toEqual(["finished", "recovered"]);
      },
    );
  },
);
