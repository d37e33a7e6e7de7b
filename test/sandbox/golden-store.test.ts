import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAddon, type NativeGolden } from "../../src/sandbox/microvm/addon.js";
import {
  type GoldenIdentity,
  goldenDigest,
  goldenFolder,
  GoldenStore,
} from "../../src/sandbox/microvm/golden-store.js";
import { endlessProgram } from "../addon/program.js";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "shinken-goldens-"));
});
afterEach(() => {
  rmSync(cache, { recursive: true, force: true });
});

async function anyGolden(): Promise<NativeGolden> {
  const program = join(cache, "program.bin");
  writeFileSync(program, endlessProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  await machine.run({ maxInstructions: 100 });
  const golden = await machine.freeze();
  await machine.close();
  return golden;
}

const digest = (letter: string): string => letter.repeat(64);

describe("the name of a golden", () => {
  const identity: GoldenIdentity = { image: "i", setup: "s", seed: "", memoryMiB: 512, recipe: "r" };
  it("changes with everything that the golden depends on", () => {
    const names = new Set([
      goldenDigest(identity, 1),
      goldenDigest(identity, 2),
      goldenDigest({ ...identity, image: "j" }, 1),
      goldenDigest({ ...identity, setup: "t" }, 1),
      goldenDigest({ ...identity, seed: "u" }, 1),
      goldenDigest({ ...identity, memoryMiB: 256 }, 1),
      goldenDigest({ ...identity, recipe: "q" }, 1),
    ]);
    expect(names.size).toBe(7);
    expect(goldenDigest({ ...identity }, 1)).toBe(goldenDigest(identity, 1));
  });
});

describe("the store of goldens", () => {
  it("gives back what was saved, with its note", async () => {
    const store = new GoldenStore(cache);
    const golden = await anyGolden();
    expect(await store.load(digest("a"), [])).toBeNull();
    await store.save(digest("a"), golden, "note");
    const loaded = await store.load(digest("a"), []);
    expect(loaded?.facts().note).toBe("note");
    expect(await loaded?.digest()).toBe(await golden.digest());
    loaded?.close();
    golden.close();
  });

  it.each(["truncated", "altered"])("removes a file that was %s, so that it is made again", async (how) => {
    const store = new GoldenStore(cache);
    const golden = await anyGolden();
    await store.save(digest("a"), golden, "");
    golden.close();
    const path = join(goldenFolder(cache), `${digest("a")}.golden`);
    const bytes = readFileSync(path);
    if (how === "altered") bytes[40] = (bytes[40] ?? 0) ^ 0xff;
    writeFileSync(path, how === "truncated" ? bytes.subarray(0, bytes.length >> 1) : bytes);
    expect(await store.load(digest("a"), [])).toBeNull();
    expect(readdirSync(goldenFolder(cache))).toEqual([]);
  });

  it("drops what was not used for longest when it holds too much, and nothing that was used lately", async () => {
    const store = new GoldenStore(cache, 1);
    const golden = await anyGolden();
    for (const letter of ["a", "b", "c"]) await store.save(digest(letter), golden, "");
    const file = (letter: string): string => join(goldenFolder(cache), `${digest(letter)}.golden`);
    const yesterday = new Date(Date.now() - 86_400_000);
    utimesSync(file("a"), yesterday, yesterday);
    utimesSync(file("b"), yesterday, yesterday);
    (await store.load(digest("b"), []))?.close();
    await store.save(digest("d"), golden, "");
    golden.close();
    const left = readdirSync(goldenFolder(cache)).sort();
    expect(left).toEqual(["b", "c", "d"].map((letter) => `${digest(letter)}.golden`));
  });
});
