import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon, type NativeGolden, type NativeMachine } from "../../src/sandbox/microvm/addon.js";
import { writingProgram } from "./program.js";

let folder: string;
let golden: NativeGolden;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shinken-checkpoints-"));
  const program = join(folder, "writing.bin");
  writeFileSync(program, writingProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  golden = await machine.freeze();
  await machine.close();
});
afterAll(() => {
  golden.close();
  rmSync(folder, { recursive: true, force: true });
});

const id = (): Uint8Array => randomBytes(16);
const fork = (checkpointBytes = 64 * 1024 * 1024): NativeMachine =>
  golden.fork({ generationId: id(), checkpointBytes });
/** Lets the program write so many fresh pages. */
const write = (machine: NativeMachine, pages: number) => machine.run({ maxInstructions: 3 * pages });

async function memory(): Promise<{ livePages: number; tables: number; kept: number; heldBytes: number }> {
  while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
  const { livePages, tables, checkpoints } = loadAddon().engineStats();
  return { livePages, tables, kept: checkpoints.kept, heldBytes: checkpoints.heldBytes };
}

async function codeOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
}

describe("a machine that keeps checkpoints", () => {
  it("tells step, digest and the pages that changed, and lists what it keeps", async () => {
    const machine = fork();
    const first = await machine.checkpoint({ step: 0 });
    await write(machine, 10);
    const second = await machine.checkpoint({ step: 1, ownerBytes: 1_000 });
    expect(second.digest).toBe(await machine.digest());
    expect(second.digest).not.toBe(first.digest);
    expect(second.deltaPages).toBeGreaterThanOrEqual(9);
    expect(second.deltaPages).toBeLessThanOrEqual(11);
    expect(second.dropped).toEqual([]);
    expect(second.instructions).toBe(first.instructions + 30);
    const { checkpoints, ...stats } = machine.checkpoints();
    expect(checkpoints.map(({ step, digest }) => [step, digest])).toEqual([
      [0, first.digest],
      [1, second.digest],
    ]);
    expect(stats).toMatchObject({ kept: 2, taken: 2, dropped: 0, budgetBytes: 64 * 1024 * 1024 });
    expect(stats.heldBytes).toBeGreaterThan(1_000);
    await machine.close();
    expect(machine.checkpoints()).toMatchObject({ kept: 0, heldBytes: 0, checkpoints: [] });
  });

  it("is forked as it was: a grade fork has the digest, and goes on to the same", async () => {
    const machine = fork();
    const digests: string[] = [];
    for (let step = 0; step < 6; step += 1) {
      digests.push((await machine.checkpoint({ step })).digest);
      await write(machine, 5 + step);
    }
    const again = await machine.forkAt({ step: 2 }, { kind: "grade" });
    for (let step = 2; step < 6; step += 1) {
      expect(await again.digest()).toBe(digests[step]);
      await write(again, 5 + step);
    }
    expect(await again.digest()).toBe(await machine.digest());
    const branch = await machine.forkAt(
      { step: 2 },
      { kind: "branch", generationId: id(), checkpointBytes: 1 },
    );
    expect(await branch.digest()).not.toBe(digests[2]);
    // Its own first checkpoint is told from the same golden.
    const own = await branch.checkpoint({ step: 2 });
    expect(own.deltaPages).toBeGreaterThanOrEqual(5 + 6 - 1);
    await Promise.all([machine, again, branch].map((one) => one.close()));
  });

  it("drops the oldest for want of budget, says which, and refuses them by name", async () => {
    const machine = fork(256 * 1024);
    const dropped: number[] = [];
    for (let step = 0; step < 40; step += 1) {
      await write(machine, 3);
      dropped.push(...(await machine.checkpoint({ step, ownerBytes: 20_000 })).dropped);
      expect(machine.checkpoints().heldBytes).toBeLessThanOrEqual(256 * 1024);
    }
    expect(dropped.length).toBeGreaterThan(20);
    expect(dropped).toEqual([...dropped.keys()]);
    const { checkpoints, ...stats } = machine.checkpoints();
    expect(stats).toMatchObject({ taken: 40, dropped: dropped.length, kept: 40 - dropped.length });
    expect(checkpoints[0]?.step).toBe(dropped.length);
    await expect(machine.forkAt({ step: 0 }, { kind: "grade" })).rejects.toMatchObject({
      code: "no_checkpoint",
      message: `no_checkpoint: no checkpoint of step 0 is kept; kept: ${dropped.length} to 39`,
    });
    await machine.close();
  });

  it("keeps a checkpoint while a branch of it lives, and drops it when that is closed", async () => {
    const machine = fork(256 * 1024);
    let step = 0;
    const goOn = async (steps: number): Promise<void> => {
      for (const end = step + steps; step < end; step += 1) {
        await write(machine, 3);
        await machine.checkpoint({ step, ownerBytes: 20_000 });
      }
    };
    const first = (): number | undefined => machine.checkpoints().checkpoints[0]?.step;
    await goOn(3);
    const branch = await machine.forkAt({ step: 1 }, { kind: "branch", generationId: id() });
    await goOn(40);
    expect(first()).toBe(1);
    await branch.close();
    await goOn(1);
    expect(first()).toBeGreaterThan(20);
    await machine.close();
  });

  it("is one that was forked so: others refuse, and wrong arguments are named", async () => {
    const plain = golden.fork({ generationId: id() });
    expect(await codeOf(() => plain.checkpoint({ step: 0 }))).toBe("no_checkpoint");
    expect(await codeOf(() => plain.forkAt({ step: 0 }, { kind: "grade" }))).toBe("no_checkpoint");
    expect(plain.checkpoints()).toMatchObject({ taken: 0, budgetBytes: 0, checkpoints: [] });
    const machine = fork();
    expect(() => machine.checkpoint({ stp: 1 } as never)).toThrow("did you mean `step`?");
    expect(() => machine.checkpoint({ step: -1 })).toThrow("`step` must be an integer");
    expect(() => machine.forkAt({ step: 0 }, { kind: "replica" } as never)).toThrow("`kind` must be");
    expect(() => fork(0)).toThrow("checkpointBytes");
    await machine.checkpoint({ step: 3 });
    await expect(machine.checkpoint({ step: 2 })).rejects.toMatchObject({ code: "invalid_config" });
    const running = machine.run({ maxInstructions: 1_000 });
    expect(await codeOf(() => machine.checkpoint({ step: 4 }))).toBe("busy");
    await running;
    await Promise.all([plain.close(), machine.close()]);
    expect(await codeOf(() => machine.checkpoint({ step: 4 }))).toBe("closed");
  });

  it("leaves nothing behind, whichever of machine, branch and golden is closed first", async () => {
    const before = await memory();
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
      [1, 2, 0],
    ]) {
      const machine = fork();
      for (let step = 0; step < 5; step += 1) {
        await write(machine, 20);
        await machine.checkpoint({ step });
      }
      const branch = await machine.forkAt(
        { step: 1 },
        { kind: "branch", generationId: id(), checkpointBytes: 1 << 20 },
      );
      await branch.checkpoint({ step: 1 });
      await write(branch, 20);
      const frozen = await branch.freeze();
      const live = await memory();
      expect(live.livePages).toBeGreaterThan(before.livePages + 100);
      expect(live.kept).toBe(before.kept + 6);
      const all = [machine, branch, frozen];
      for (const at of order) await all[at]?.close();
      expect(await memory()).toEqual(before);
    }
  });
});
