import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon, type NativeGolden, type NativeMachine } from "../../src/sandbox/microvm/addon.js";
import { writingProgram } from "./program.js";

let folder: string, program: string, path: string;
let golden: NativeGolden;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shinken-delta-"));
  program = join(folder, "writing.bin");
  path = join(folder, "state.delta");
  writeFileSync(program, writingProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  golden = await machine.freeze();
  await machine.close();
});
afterAll(() => {
  golden.close();
  rmSync(folder, { recursive: true, force: true });
});

const fork = (of = golden): NativeMachine =>
  of.fork({ generationId: randomBytes(16), checkpointBytes: 1 << 26 });
/** Lets the program write so many fresh pages. */
const write = (machine: NativeMachine, pages: number) => machine.run({ maxInstructions: 3 * pages });
const call = (target: object, name: string, ...rest: unknown[]): unknown =>
  (Reflect.get(target, name) as (...args: unknown[]) => unknown).apply(target, rest);

async function livePages(): Promise<number> {
  while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
  return loadAddon().engineStats().livePages;
}

async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
}

describe("a machine's state in a file", () => {
  it("is written with its digest and what it takes, and opened on its golden", async () => {
    const machine = fork();
    await write(machine, 50);
    const facts = await machine.saveDelta({ path, note: "a note", compress: false });
    expect(facts.digest).toBe(await machine.digest());
    expect(facts.bytes).toBe(statSync(path).size);
    expect(facts.pages).toBeGreaterThanOrEqual(49);
    const state = await loadAddon().loadDelta({ path, golden });
    expect(await state.digest()).toBe(facts.digest);
    expect(state.facts().note).toBe("a note");
    const resumed = state.fork({ kind: "resume" });
    expect(await resumed.digest()).toBe(facts.digest);
    // What descends from it is told as a difference from the same golden, after it is gone, too.
    state.close();
    await write(machine, 10);
    await write(resumed, 10);
    const again = await resumed.saveDelta({ path });
    expect(again.digest).toBe(await machine.digest());
    expect(again.pages).toBeGreaterThanOrEqual(facts.pages + 9);
    const last = await loadAddon().loadDelta({ path, golden });
    expect(await last.digest()).toBe(again.digest);
    last.close();
    await Promise.all([machine.close(), resumed.close()]);
  });

  it("is that of a kept step if one is named, and of a branch on its parent's golden", async () => {
    const machine = fork();
    await write(machine, 5);
    const { digest } = await machine.checkpoint({ step: 3 });
    await write(machine, 5);
    expect((await machine.saveDelta({ path, step: 3 })).digest).toBe(digest);
    expect(await codeOf(() => machine.saveDelta({ path, step: 4 }))).toBe("no_checkpoint");
    const branch = await machine.forkAt({ step: 3 }, { kind: "branch", generationId: randomBytes(16) });
    expect(await codeOf(() => branch.saveDelta({ path, step: 3 }))).toBe("no_checkpoint");
    const saved = await branch.saveDelta({ path });
    const state = await loadAddon().loadDelta({ path, golden });
    expect(await state.digest()).toBe(saved.digest);
    state.close();
    await Promise.all([machine.close(), branch.close()]);
  });

  it("holds the golden as long as its machine lives, and not longer", async () => {
    const before = await livePages();
    const boot = await loadAddon().bootMachine({ program, memoryMiB: 64 });
    const own = await boot.freeze();
    await boot.close();
    const machine = fork(own);
    own.close();
    await write(machine, 20);
    expect((await machine.saveDelta({ path })).pages).toBeGreaterThanOrEqual(19);
    await machine.close();
    expect(await livePages()).toBe(before);
  });

  it("is refused where it makes no sense, before anything is written", async () => {
    const absent = join(folder, "absent.delta");
    const boot = await loadAddon().bootMachine({ program, memoryMiB: 64 });
    expect(await codeOf(() => boot.saveDelta({ path: absent }))).toBe("invalid_config");
    const machine = fork();
    for (const [options, message] of [
      [{}, /`path` must be given/],
      [{ path: absent, stepp: 1 }, /stepp/],
      [{ path: absent, step: -1 }, /step/],
      [{ path: absent, note: "x".repeat(65_537) }, /note/],
      [{ path: absent, compress: "yes" }, /compress/],
    ] as const)
      expect(() => call(machine, "saveDelta", options)).toThrow(message);
    expect(existsSync(absent)).toBe(false);
    expect(await codeOf(() => machine.saveDelta({ path: join(folder, "no", "such") }))).toBe("file");
    const running = machine.run({ maxInstructions: 100_000 });
    expect(await codeOf(() => machine.saveDelta({ path }))).toBe("busy");
    await running;
    expect(() => call(loadAddon(), "loadDelta", { path })).toThrow(/Golden/);
    expect(() => call(loadAddon(), "loadDelta", { path, golden: machine })).toThrow(/Golden/);
    expect(() => call(loadAddon(), "loadDelta", { golden })).toThrow(/path/);
    expect(await codeOf(() => loadAddon().loadDelta({ path: absent, golden }))).toBe("file");
    const other = await machine.freeze();
    await machine.saveDelta({ path });
    expect(await codeOf(() => loadAddon().loadDelta({ path, golden: other }))).toBe("delta_golden");
    expect(await codeOf(() => loadAddon().loadDelta({ path: program, golden }))).toBe("golden_magic");
    other.close();
    expect(await codeOf(() => loadAddon().loadDelta({ path, golden: other }))).toBe("closed");
    await Promise.all([boot.close(), machine.close()]);
  });
});

describe("two states", () => {
  it("are compared, machines and goldens alike, and neither is changed by it", async () => {
    const [one, other] = [fork(), fork()];
    const addon = loadAddon();
    const before = await one.digest();
    expect((await addon.compareStates(one, other)).devices).toContain("generation");
    expect(await one.digest()).toBe(before);
    const copy = await one.freeze();
    expect(await addon.compareStates(copy, one)).toMatchObject({ equal: true, pages: 0 });
    expect(await addon.compareStates(one, one)).toMatchObject({ equal: true });
    await write(one, 30);
    const found = await addon.compareStates(copy, one);
    expect(found.pages).toBeGreaterThanOrEqual(29);
    expect(found.firstPages).toHaveLength(16);
    expect(found.registers.find(({ name }) => name === "instret")).toMatchObject({
      other: BigInt(one.stats().instructions),
    });
    expect(() => call(loadAddon(), "compareStates", one)).toThrow(/`other`/);
    const running = one.run({ maxInstructions: 100_000 });
    expect(await codeOf(() => addon.compareStates(copy, one))).toBe("busy");
    await running;
    copy.close();
    await Promise.all([one.close(), other.close()]);
    expect(await codeOf(() => addon.compareStates(one, other))).toBe("closed");
  });
});
