/** What only flat guest memory has: snapshots that do not stop the machine, and goldens on disk that are read ahead. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  loadAddon,
  type MemoryKind,
  type NativeGolden,
  type NativeMachine,
} from "../../src/sandbox/microvm/addon.js";
import { writingProgram } from "./program.js";

let folder: string;
let path: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shinken-flat-"));
  path = join(folder, "writing.golden");
  const program = join(folder, "writing.bin");
  writeFileSync(program, writingProgram());
  const machine = await loadAddon().bootMachine({ program, memoryMiB: 64 });
  // Some pages that forks meet on disk.
  await write(machine, 200);
  const golden = await machine.freeze();
  await golden.save({ path });
  golden.close();
  await machine.close();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const host = loadAddon().hostMemory();
const load = (): Promise<NativeGolden> => loadAddon().loadGolden({ path, check: "index" });
const fork = (golden: NativeGolden, memory: MemoryKind): NativeMachine =>
  golden.fork({ generationId: randomBytes(16), memory });
/** Lets the program write so many fresh pages. */
const write = (machine: NativeMachine, pages: number) => machine.run({ maxInstructions: 3 * pages });

it("the host says whether it has flat memory, and why not", () => {
  if (host.refusal === null) expect(typeof host.hugePages).toBe("boolean");
  else
    expect(host).toMatchObject({
      refusal: expect.stringContaining("soft memory") as string,
      coldGoldens: false,
    });
});

describe.each<MemoryKind>(host.refusal === null ? ["soft", "uffd"] : ["soft"])(
  "a snapshot on %s memory",
  (memory) => {
    it("is of the moment at which it was asked for, and the machine goes on while it is finished", async () => {
      const golden = await load();
      const machine = fork(golden, memory);
      await write(machine, 300);
      const digest = await machine.digest();
      const { golden: pending } = await machine.snapshot();
      await write(machine, 300);
      const frozen = await pending;
      expect(await frozen.digest()).toBe(digest);
      expect(await machine.digest()).not.toBe(digest);
      const again = frozen.fork({ kind: "grade" });
      await write(again, 300);
      expect(await again.digest()).toBe(await machine.digest());
      frozen.close();
      golden.close();
      await Promise.all([machine.close(), again.close()]);
    });

    it("is waited for by a close", async () => {
      const golden = await load();
      const machine = fork(golden, memory);
      await write(machine, 300);
      const { golden: pending } = await machine.snapshot();
      const closing = machine.close();
      const frozen = await pending;
      await closing;
      expect(machine.closed).toBe(true);
      expect(frozen.facts().storedPages).toBeGreaterThan(200);
      frozen.close();
      golden.close();
    });

    it("is asked for by nobody while the machine works", async () => {
      const golden = await load();
      const machine = fork(golden, memory);
      const running = write(machine, 100);
      expect(() => machine.snapshot()).toThrow("working on another call");
      await running;
      await machine.close();
      golden.close();
    });
  },
);

describe.skipIf(!host.coldGoldens)("a golden on disk", () => {
  const prefetched = (): number => loadAddon().engineStats().paths.prefetchedPages;

  it("tells which pages its forks touched, and reads them and the rest ahead of the next ones", async () => {
    const golden = await load();
    const first = fork(golden, "uffd");
    await write(first, 100);
    const digest = await first.digest();
    const order = golden.touchedPages();
    expect(order.length).toBeGreaterThan(0);
    expect(order.length % 4).toBe(0);
    await first.close();
    golden.close();
    for (const options of [{ order }, {}]) {
      const again = await load();
      const before = prefetched();
      again.prefetch(options);
      // It begins with the first fork that can make use of it.
      const second = fork(again, "uffd");
      while (prefetched() - before < again.facts().storedPages)
        await new Promise((resolve) => setImmediate(resolve));
      const third = again.fork({ kind: "grade", memory: "uffd" });
      await write(second, 100);
      expect(second.stats().paths.coldFaults + third.stats().paths.coldFaults).toBe(0);
      expect(again.touchedPages()).toHaveLength(0);
      await write(third, 100);
      await Promise.all([second.close(), third.close()]);
      again.close();
    }
    expect(digest).toMatch(/^[0-9a-f]{32}$/);
  });

  it("takes no order that is none", async () => {
    const golden = await load();
    expect(() => {
      golden.prefetch({ order: new Uint8Array(3) });
    }).toThrow("four bytes a page");
    expect(() => {
      golden.prefetch({ ordre: new Uint8Array(4) } as never);
    }).toThrow("did you mean `order`?");
    golden.close();
  });
});
