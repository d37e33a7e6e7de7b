import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadAddon, type NativeGolden } from "../../src/sandbox/microvm/addon.js";
import { type GoldenIdentity, goldenDigest, GoldenStore } from "../../src/sandbox/microvm/golden-store.js";
import { collectGoldens, type CareOptions } from "../../src/sandbox/microvm/golden-care.js";
import { findGolden, goldenFiles, goldenFolder } from "../../src/sandbox/microvm/golden-folder.js";
import { endlessProgram } from "../addon/program.js";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "shinken-goldens-"));
});
afterEach(() => {
  rmSync(cache, { recursive: true, force: true });
});

/** Another number of instructions is another state. */
async function anyGolden(instructions = 100): Promise<NativeGolden> {
  const program = join(cache, "program.bin");
  writeFileSync(program, endlessProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  await machine.run({ maxInstructions: instructions });
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

  it("names the file by the state, and keeps one for two keys that came out alike", async () => {
    const store = new GoldenStore(cache);
    const golden = await anyGolden();
    await store.save(digest("a"), golden, "");
    await store.save(digest("b"), golden, "");
    const [file, another] = await goldenFiles(goldenFolder(cache));
    expect(another).toBeUndefined();
    expect(file?.name).toBe(await golden.digest());
    expect(file?.keys.sort()).toEqual([digest("a"), digest("b")]);
    for (const named of [digest("b"), digest("a").slice(0, 8), file?.name ?? "", file?.path ?? ""])
      expect((await findGolden(goldenFolder(cache), named)).path).toBe(file?.path);
    await expect(findGolden(goldenFolder(cache), "a")).rejects.toMatchObject({ code: "golden_missing" });
    golden.close();
  });

  it.each(["truncated", "altered"])("removes a file that was %s, so that it is made again", async (how) => {
    const store = new GoldenStore(cache);
    const golden = await anyGolden();
    await store.save(digest("a"), golden, "");
    golden.close();
    const path = (await findGolden(goldenFolder(cache), digest("a"))).path;
    const bytes = readFileSync(path);
    if (how === "altered") bytes[40] = (bytes[40] ?? 0) ^ 0xff;
    writeFileSync(path, how === "truncated" ? bytes.subarray(0, bytes.length >> 1) : bytes);
    expect(await store.load(digest("a"), [])).toBeNull();
    expect(readdirSync(goldenFolder(cache), { recursive: true })).toEqual(["by-key"]);
  });

  it("drops what was not used for longest when it holds too much, and nothing that was used lately", async () => {
    const store = new GoldenStore(cache, 1);
    for (const letter of ["a", "b", "c"]) await save(store, letter);
    await age("a");
    await age("b");
    (await store.load(digest("b"), []))?.close();
    await save(store, "d");
    const left = (await goldenFiles(goldenFolder(cache))).flatMap(({ keys }) => keys);
    expect(left.sort()).toEqual(["b", "c", "d"].map(digest));
    expect(await store.load(digest("a"), [])).toBeNull();
  });
});

/** A golden of its own for each letter. */
async function save(store: GoldenStore, letter: string): Promise<void> {
  const golden = await anyGolden(letter.charCodeAt(0));
  await store.save(digest(letter), golden, letter);
  golden.close();
}

/** Makes a golden one that was last used two days ago. */
async function age(letter: string): Promise<void> {
  const before = new Date(Date.now() - 2 * 86_400_000);
  utimesSync((await findGolden(goldenFolder(cache), digest(letter))).path, before, before);
}

describe("a clean-up of goldens", () => {
  const collect = (options: Partial<CareOptions> = {}) =>
    collectGoldens(goldenFolder(cache), {
      cacheDir: cache,
      keptBytes: 1 << 30,
      compress: false,
      dryRun: false,
      ...options,
    });

  it("removes what is damaged, without a key or half-written, and says why", async () => {
    const store = new GoldenStore(cache);
    for (const letter of ["a", "b", "c"]) await save(store, letter);
    const file = async (letter: string) => (await findGolden(goldenFolder(cache), digest(letter))).path;
    const damaged = await file("a");
    const keyless = await file("b");
    writeFileSync(damaged, readFileSync(damaged).subarray(0, 1000));
    for (const letter of ["a", "b", "c"]) await age(letter);
    rmSync(join(goldenFolder(cache), "by-key", digest("b")));
    const half = `${keyless}.tmp.1.0`;
    writeFileSync(half, "");
    utimesSync(half, 1, 1);
    const planned = await collect({ dryRun: true });
    expect(readdirSync(goldenFolder(cache))).toHaveLength(5);
    const done = await collect();
    expect(done).toEqual(planned);
    expect(Object.fromEntries(done.map(({ path, reason }) => [path, reason]))).toEqual({
      [damaged]: expect.stringContaining("golden_truncated") as string,
      [keyless]: "no key points at it",
      [half]: "half-written",
    });
    expect(readdirSync(goldenFolder(cache), { recursive: true }).sort()).toHaveLength(3);
    expect((await store.load(digest("c"), []))?.facts().note).toBe("c");
  });

  it("removes the order of a golden with it, and one that was left alone", async () => {
    const store = new GoldenStore(cache);
    await save(store, "a");
    await save(store, "b");
    const order = new Uint8Array([3, 0, 0, 0, 1, 0, 0, 0]);
    await store.saveOrder(digest("a"), order);
    await store.saveOrder(digest("b"), order);
    // Of a golden that is not there: nothing is written.
    await store.saveOrder(digest("c"), order);
    expect(await store.order(digest("a"))).toEqual(Buffer.from(order));
    expect(await store.order(digest("c"))).toBeNull();
    expect(readdirSync(goldenFolder(cache)).filter((name) => name.endsWith(".touched"))).toHaveLength(2);
    const a = (await findGolden(goldenFolder(cache), digest("a"))).path;
    const b = await findGolden(goldenFolder(cache), digest("b"));
    rmSync(a);
    const alone = a.replace(".golden", ".touched");
    utimesSync(alone, 1, 1);
    await age("b");
    rmSync(join(goldenFolder(cache), "by-key", digest("b")));
    expect((await collect()).map(({ path, reason }) => [path, reason])).toEqual([
      [alone, "of a golden that is gone"],
      [b.path, "no key points at it"],
    ]);
    expect(readdirSync(goldenFolder(cache))).toEqual(["by-key"]);
  });

  it("takes no order that is damaged", async () => {
    const store = new GoldenStore(cache);
    await save(store, "a");
    await store.saveOrder(digest("a"), new Uint8Array(7));
    expect(await store.order(digest("a"))).toBeNull();
  });

  it("leaves alone what was used within the hour", async () => {
    await save(new GoldenStore(cache), "a");
    rmSync(join(goldenFolder(cache), "by-key", digest("a")));
    expect(await collect({ keptBytes: 0 })).toEqual([]);
  });

  it("knows to the millisecond when one was used", async () => {
    await save(new GoldenStore(cache), "a");
    const { path } = await findGolden(goldenFolder(cache), digest("a"));
    const begin = Date.UTC(2026, 0, 1);
    for (let ms = begin; ms < begin + 100; ms += 1) {
      utimesSync(path, new Date(ms), new Date(ms));
      expect((await findGolden(goldenFolder(cache), digest("a"))).usedMs).toBe(ms);
    }
  });

  it("compresses what was not used for a day, which then loads as the same machine", async () => {
    const store = new GoldenStore(cache);
    await save(store, "a");
    await save(store, "b");
    await age("a");
    const before = await findGolden(goldenFolder(cache), digest("a"));
    const [packed, more] = await collect({ compress: true });
    expect(more).toBeUndefined();
    expect(packed).toMatchObject({ path: before.path, action: "packed" });
    const after = await findGolden(goldenFolder(cache), digest("a"));
    expect(after.bytes).toBeLessThan(before.bytes);
    expect(after.usedMs).toBe(before.usedMs);
    expect(await loadAddon().inspectGolden({ path: after.path })).toMatchObject({ compressed: true });
    const golden = await store.load(digest("a"), []);
    expect(await golden?.digest()).toBe(after.name);
    golden?.close();
    expect(await collect({ compress: true })).toEqual([]);
  });
});
