import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/images/assets.js";
import { openImage } from "../../src/images/index.js";
import { disksOf } from "../../src/sandbox/microvm/boot.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const CHECKPOINTS = [150e6, 400e6, 700e6, 1100e6];

interface Point {
  instructions: number;
  digest: string;
}

/** Boots the image in a process of its own. */
async function boot(manner: "whole" | "pieces", translation: "never" | "hot" | "all"): Promise<Point[]> {
  const image = openImage(TEST_IMAGE);
  const config = {
    program: image.kernel,
    initrd: image.initrd,
    bootargs: image.appendBase,
    memoryMiB: 512,
    disks: disksOf(image),
    rngSeed: "5a".repeat(32),
  };
  const script = join(packageRoot(), "test/sandbox/boot-digest.cjs");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [script, JSON.stringify(config), JSON.stringify(CHECKPOINTS), manner],
    { env: { ...process.env, SHINKEN_TRANSLATION: translation } },
  );
  return JSON.parse(stdout) as Point[];
}

describe.skipIf(unavailable !== null)("the boot of Debian's kernel", () => {
  it("is the same in four processes over a thousand million instructions, interpreted or translated, however it is cut into runs", async () => {
    const [whole, pieces] = await Promise.all([boot("whole", "hot"), boot("pieces", "hot")]);
    expect(pieces).toEqual(whole);
    const [interpreted, translated] = await Promise.all([boot("whole", "never"), boot("pieces", "all")]);
    expect(interpreted).toEqual(whole);
    expect(translated).toEqual(whole);
    expect(whole.map(({ instructions }) => instructions)).toEqual(CHECKPOINTS);
    expect(new Set(whole.map(({ digest }) => digest)).size).toBe(CHECKPOINTS.length);
  });
});
