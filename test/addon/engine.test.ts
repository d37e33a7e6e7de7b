import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  type EngineStats,
  loadAddon,
  type NativeGolden,
  type NativeMachine,
} from "../../src/sandbox/microvm/addon.js";
import { endlessProgram } from "./program.js";

/** As the monitor has it. */
const SLICE = 5_000_000;
const SHORT_TURNS = 4;

let folder: string;
let golden: NativeGolden;
const machines: NativeMachine[] = [];
const engineStats = (): EngineStats => loadAddon().engineStats();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shinken-engine-"));
  const program = join(folder, "endless.bin");
  writeFileSync(program, endlessProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  golden = await machine.freeze();
  await machine.close();
});
afterEach(async () => {
  await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
afterAll(() => {
  golden.close();
  rmSync(folder, { recursive: true, force: true });
});

function fork(kind: "replica" | "grade"): NativeMachine {
  const machine = golden.fork(kind === "grade" ? { kind } : { generationId: randomBytes(16) });
  machines.push(machine);
  return machine;
}

/** Machines that count for ever, so many for each thread, all of them past their short turns and the first long ones. */
async function crowd(kind: "replica" | "grade", perThread: number): Promise<NativeMachine[]> {
  const all = Array.from({ length: perThread * engineStats().threads }, () => fork(kind));
  for (const machine of all) void machine.run({});
  const long = (machine: NativeMachine): boolean => machine.stats().instructions > (SHORT_TURNS + 3) * SLICE;
  while (!all.every(long)) await new Promise((resolve) => setTimeout(resolve, 5));
  return all;
}

describe("machines that share the threads", () => {
  it("are cancelled wherever they are, on a thread or waiting for one", async () => {
    const all = Array.from({ length: 200 }, () => fork("replica"));
    const ends = all.map((machine) => machine.run({}));
    for (const machine of all.toReversed()) machine.cancel();
    const outcomes = await Promise.all(ends);
    expect(outcomes.every(({ reason }) => reason === "cancelled")).toBe(true);
    expect(engineStats()).toMatchObject({ queued: 0, running: 0, inFlight: 0 });
  });

  it("make room for a short request at once, and go on later", async () => {
    const all = await crowd("replica", 2);
    const { preempted } = engineStats();
    const before = all.map((machine) => machine.stats().instructions);
    // A turn may end by itself just as the request comes: then nobody has to make room, and the next request asks again.
    for (let asked = 0; asked < 50 && engineStats().preempted === preempted; asked += 1) {
      const outcome = await fork("replica").run({ maxInstructions: 1000 });
      expect(outcome).toMatchObject({ reason: "instruction_limit", runInstructions: 1000 });
    }
    expect(engineStats().preempted).toBeGreaterThan(preempted);
    const behind = (): boolean =>
      all.some((machine, i) => machine.stats().instructions < (before[i] ?? 0) + SLICE);
    while (behind()) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("give way to grade forks, but not wholly", async () => {
    const [ordinary] = await crowd("replica", 1);
    const graders = await crowd("grade", 2);
    const at = ordinary?.stats().instructions ?? 0;
    const { priorities } = engineStats();
    expect(priorities.grade.queued + priorities.grade.running).toBe(graders.length);
    while ((ordinary?.stats().instructions ?? 0) < at + 2 * SLICE)
      await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("are counted with the time that they waited and ran, by priority", async () => {
    const before = engineStats();
    const runs = (["replica", "grade", "grade"] as const).map((kind) =>
      fork(kind).run({ maxInstructions: SLICE + 1 }),
    );
    await Promise.all(runs);
    const after = engineStats();
    for (const [priority, runsOfIt] of [
      ["ordinary", 1],
      ["grade", 2],
    ] as const) {
      for (const which of ["waited", "ran"] as const) {
        const [was, is] = [before.priorities[priority][which], after.priorities[priority][which]];
        expect(is.count - was.count).toBe(runsOfIt);
        expect(is.counts.reduce((sum, count) => sum + count, 0)).toBe(is.count);
        expect(is.counts).toHaveLength(after.timeBounds.length + 1);
        expect(is.seconds).toBeGreaterThan(was.seconds);
      }
    }
    expect(after.turns - before.turns).toBeGreaterThanOrEqual(6);
  });

  it("let go of their code when they are told to, and decode it again when they run", async () => {
    const machine = fork("grade");
    const twin = fork("grade");
    await Promise.all([machine, twin].map((each) => each.run({ maxInstructions: 1000 })));
    expect(engineStats().codeBytes).toBeGreaterThan(0);
    const { cachesDropped } = engineStats();
    await loadAddon().dropCaches();
    expect(engineStats().codeBytes).toBe(0);
    expect(engineStats().cachesDropped - cachesDropped).toBeGreaterThanOrEqual(2);
    await machine.run({ maxInstructions: 1000 });
    const untouched = fork("grade");
    await untouched.run({ maxInstructions: 2000 });
    expect(await machine.digest()).toBe(await untouched.digest());
  });

  it.skipIf(process.platform !== "linux")(
    "may be many: a parked one holds no descriptor and no mapping",
    async () => {
      const holdings = (): number[] => [
        readFileSync("/proc/self/maps", "utf8").split("\n").length,
        readdirSync("/proc/self/fd").length,
      ];
      const before = holdings();
      const all = Array.from({ length: 10_000 }, () => fork("replica"));
      await Promise.all(all.map((machine) => machine.run({ maxInstructions: 10 })));
      await loadAddon().dropCaches();
      const after = holdings();
      // Pages come from chunks, and heaps grow: one mapping for many machines.
      expect((after[0] ?? 0) - (before[0] ?? 0)).toBeLessThan(1_000);
      expect(after[1]).toBe(before[1]);
      expect(engineStats().machines).toBe(10_000);
    },
  );
});
