/** A machine's state in a file: the same machine again, in whatever process, and what is said of two that differ. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/images/assets.js";
import { loadAddon, type MemoryKind } from "../../src/sandbox/microvm/addon.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import type { Golden, Sandbox, SavedState, StateDifference } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const folder = mkdtempSync(join(tmpdir(), "shinken-state-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const seed = createHash("sha256").update("state").digest();
const run = async (machine: Sandbox, script: string): Promise<string> =>
  Buffer.from((await machine.exec({ argv: ["sh", "-c", script], user: "agent" })).stdout)
    .toString()
    .trim();
const look = "cat /tmp/note; head -c 8 /dev/urandom | od -An -tx1; date +%s.%N; ps -o pid= | wc -l";

const save = async (machine: Sandbox, path: string, step?: number): Promise<SavedState> => {
  const saved = await machine.saveState?.(path, step === undefined ? {} : { step });
  if (saved === undefined) throw new Error("the machine keeps no states");
  return saved;
};
const open = async (golden: Golden, path: string, budgetBytes?: number): Promise<Sandbox> => {
  const machine = await golden.openState?.(
    path,
    budgetBytes === undefined ? {} : { checkpoints: { budgetBytes } },
  );
  if (machine === undefined) throw new Error("the golden opens no states");
  return machine;
};
const difference = async (one: Sandbox, other: Sandbox): Promise<StateDifference> => {
  const found = await one.difference?.(other);
  if (found === undefined) throw new Error("the machine cannot be compared");
  return found;
};

const kinds: MemoryKind[] = ["soft"];
if (unavailable === null && loadAddon().hostMemory().refusal === null) kinds.push("uffd");

describe.skipIf(unavailable !== null).each(kinds)("the state of a machine, with %s memory", (memory) => {
  let provider: MicrovmProvider, golden: Golden;
  const path = join(folder, `${memory}.delta`);
  beforeAll(async () => {
    provider = new MicrovmProvider({ memory });
    golden = await provider.imageGolden(TEST_IMAGE);
  });
  afterAll(async () => {
    golden.close();
    const left = provider.openMachines();
    await provider.close();
    expect(left).toBe(0);
  });

  it("is opened in another process, to the bit, and goes on there as here", async () => {
    const machine = await golden.fork({ seed, clock: { seconds: 1_900_000_000, nanoseconds: 7 } });
    await run(machine, "echo kept > /tmp/note; sleep 1000 & ");
    const before = await machine.digest();
    const saved = await save(machine, path);
    expect(saved).toMatchObject({ digest: before, bytes: statSync(path).size });
    expect(saved.pages).toBeGreaterThan(100);
    // Writing it down is nothing to the machine.
    expect(await machine.digest()).toBe(before);
    const output = await run(machine, look);
    expect(output).toMatch(/^kept/);
    const expected = { opened: before, output, digest: await machine.digest() };
    const child = spawnSync(
      process.execPath,
      [join(packageRoot(), "test/sandbox/open-state.mjs"), path, look],
      { encoding: "utf8", env: { ...process.env, SHINKEN_MEMORY: memory } },
    );
    expect(child.stderr).toBe("");
    expect(JSON.parse(child.stdout)).toEqual(expected);
    const again = await open(golden, path);
    expect(again.clock).toEqual({ seconds: 1_900_000_000, nanoseconds: 7 });
    expect(again.address).toEqual(machine.address);
    expect(await run(again, look)).toBe(output);
    expect(await again.digest()).toBe(expected.digest);
    await Promise.all([machine.close(), again.close()]);
  });

  it("serves grade forks and branches as its machine does, and is written again as a difference from the same golden", async () => {
    const machine = await golden.fork({ seed });
    await run(machine, "echo kept > /tmp/note");
    const { digest } = await save(machine, path);
    const opened = await open(golden, path);
    const forks = [await machine.fork("grade"), await opened.fork("grade")] as const;
    for (const fork of forks) {
      expect(await fork.digest()).toBe(digest);
      expect(Buffer.from(await fork.readFile("/tmp/note")).toString()).toBe("kept\n");
    }
    expect(await forks[1].digest()).toBe(await forks[0].digest());
    const branches = [await machine.fork("branch", { seed }), await opened.fork("branch", { seed })] as const;
    expect(await run(branches[1], look)).toBe(await run(branches[0], look));
    const further = join(folder, `${memory}-further.delta`);
    await run(opened, "echo more >> /tmp/note");
    const saved = await save(opened, further);
    const last = await open(golden, further);
    expect(await last.digest()).toBe(saved.digest);
    expect(await run(last, "cat /tmp/note")).toBe("kept\nmore");
    await Promise.all([machine, opened, last, ...forks, ...branches].map((each) => each.close()));
  });

  it("after a kept step is written long after the step", async () => {
    const machine = await golden.fork({ seed, checkpoints: { budgetBytes: 1 << 28 } });
    const digests = [];
    for (const step of [0, 1, 2, 3]) {
      digests.push((await machine.checkpoint?.(step))?.digest);
      await run(machine, `echo ${step} >> /tmp/note`);
    }
    for (const step of [2, 0]) {
      expect((await save(machine, path, step)).digest).toBe(digests[step]);
      const opened = await open(golden, path, 1 << 28);
      expect(await opened.digest()).toBe(digests[step]);
      // The tail is done again, and comes to the same.
      for (let tail = step; tail < 3; tail += 1) await run(opened, `echo ${tail} >> /tmp/note`);
      expect((await opened.checkpoint?.(3))?.digest).toBe(digests[3]);
      await opened.close();
    }
    await expect(save(machine, path, 9)).rejects.toMatchObject({ code: "checkpoint_missing" });
    await machine.close();
  });

  it("shares the golden's pages, and gives its own back", async () => {
    const settled = async (): Promise<{ livePages: number; tables: number; goldens: number }> => {
      while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
      const { livePages, tables, goldens } = loadAddon().engineStats();
      return { livePages, tables, goldens };
    };
    const machine = await golden.fork({ seed });
    const { pages } = await save(machine, path);
    await machine.close();
    const round = async (): Promise<number> => {
      const opened = await Promise.all([1, 2, 3].map(() => open(golden, path)));
      const { livePages } = await settled();
      await Promise.all(opened.map((each) => each.close()));
      return livePages;
    };
    await round();
    const before = await settled();
    // Three times the difference; flat memory copies it once more into each mapping.
    expect((await round()) - before.livePages).toBeLessThanOrEqual((memory === "soft" ? 3 : 6) * pages);
    expect(await settled()).toEqual(before);
  });

  it("is refused if it is damaged, is of another golden, or is none", async () => {
    const machine = await golden.fork({ seed });
    await save(machine, path);
    const bytes = readFileSync(path);
    const refused = async (content: Uint8Array): Promise<string> => {
      const damaged = join(folder, "damaged.delta");
      writeFileSync(damaged, content);
      try {
        await (await open(golden, damaged)).close();
      } catch (error) {
        expect(error).toMatchObject({ code: "golden_invalid" });
        return (error as Error).message;
      }
      return "";
    };
    const altered = Buffer.from(bytes);
    altered[bytes.length - 9] = (altered[bytes.length - 9] ?? 0) ^ 0x10;
    expect(await refused(altered)).toMatch(/golden_(chunk|page)/);
    expect(await refused(bytes.subarray(0, bytes.length - 1))).toContain("golden_truncated");
    expect(await refused(Buffer.from("no state at all"))).toContain("golden_magic");
    await expect(open(golden, join(folder, "absent.delta"))).rejects.toMatchObject({
      code: "golden_invalid",
    });
    const other = await machine.freeze({ image: "", setup: "other", seed: "", memoryMiB: 512 });
    await expect(open(other, path)).rejects.toMatchObject({
      code: "golden_invalid",
      message: expect.stringContaining("delta_golden") as unknown,
    });
    other.close();
    const grade = await machine.fork("grade");
    await expect(save(grade, path)).rejects.toMatchObject({ code: "bad_request" });
    await Promise.all([machine.close(), grade.close()]);
  });

  it("differs from another's in what is named, and from its own copy's in nothing", async () => {
    const machine = await golden.fork({ seed });
    await save(machine, path);
    const opened = await open(golden, path);
    expect(await difference(machine, opened)).toEqual({
      equal: true,
      registers: [],
      devices: [],
      pages: 0,
      firstPages: [],
    });
    await run(opened, "echo other > /tmp/note");
    // Asked for from both sides at once: neither waits for the other.
    const [found, back] = await Promise.all([difference(machine, opened), difference(opened, machine)]);
    expect(found.equal).toBe(false);
    expect(found.pages).toBe(back.pages);
    expect(found.firstPages.length).toBe(Math.min(16, found.pages));
    const counter = found.registers.find(({ name }) => name === "instret");
    expect(counter).toBeDefined();
    expect((counter?.other ?? 0n) - (counter?.one ?? 0n)).toBe(
      BigInt(opened.stats().instructions - machine.stats().instructions),
    );
    expect(found.devices).toContain("console");
    expect(found.devices).not.toContain("generation");
    const branch = await machine.fork("branch", { seed });
    expect((await difference(machine, branch)).devices).toContain("generation");
    await Promise.all([machine, opened, branch].map((each) => each.close()));
  });
});
