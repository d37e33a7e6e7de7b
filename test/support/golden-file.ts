/** A small golden file as a node would hold it: of a bare program, on a disk that stands for an image. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import { goldenFolder, statePath } from "../../src/sandbox/microvm/golden-folder.js";
import type { ExpectedGolden } from "../../src/sandbox/microvm/golden-key.js";
import { GoldenStore } from "../../src/sandbox/microvm/golden-store.js";
import { endlessProgram } from "../addon/program.js";

const diskBytes = 4_096;

export interface GoldenSample {
  expected: ExpectedGolden;
  folder: string;
  state: string;
  path: string;
}

export interface SampleOptions {
  /** Another number of instructions is another state. */
  instructions?: number;
  image?: string;
  memoryMiB?: number;
  note?: string;
}

/** Saves it in a cache folder, under a key of 64 `a`. */
export async function goldenSample(cache: string, options: SampleOptions = {}): Promise<GoldenSample> {
  const { instructions = 100, image = "image", memoryMiB = 64, note = '{"nextStream":3}' } = options;
  mkdirSync(cache, { recursive: true });
  const [program, disk] = [join(cache, "program.bin"), join(cache, "disk.bin")];
  writeFileSync(program, endlessProgram());
  writeFileSync(disk, Buffer.alloc(diskBytes, 1));
  const machine = await loadAddon().bootMachine({
    program,
    memoryMiB,
    disks: [{ path: disk, identity: image }],
  });
  await machine.run({ maxInstructions: instructions });
  const golden = await machine.freeze();
  await machine.close();
  const expected = { key: "a".repeat(64), image, memoryMiB };
  await new GoldenStore(cache).save(expected.key, golden, note);
  const state = await golden.digest();
  golden.close();
  const folder = goldenFolder(cache);
  return { expected, folder, state, path: statePath(folder, state) };
}
