import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon, type NativeGolden, type NativeMachine } from "../../src/sandbox/microvm/addon.js";
import { writingProgram } from "./program.js";

let folder: string;
let program: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shinken-pages-"));
  program = join(folder, "writing.bin");
  writeFileSync(program, writingProgram());
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Guest memory once everything that was closed is also freed: a golden's pages go on an engine thread. */
async function memory(): Promise<Record<"livePages" | "tables" | "filePages" | "heldBytes", number>> {
  while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
  const { livePages, tables, filePages, heldBytes } = loadAddon().engineStats();
  return { livePages, tables, filePages, heldBytes };
}

const boot = (): Promise<NativeMachine> => loadAddon().bootMachine({ program, memoryMiB: 64 });
/** Instructions in which the program writes `pages` fresh pages. */
const instructionsFor = (pages: number): number => 3 * pages;

type Node = { machine: NativeMachine } | { golden: NativeGolden };

const step = fc.record({
  what: fc.constantFrom("run", "run", "freeze", "branch", "grade", "save", "close"),
  at: fc.nat(),
  pages: fc.integer({ min: 1, max: 40 }),
});

async function grow(
  nodes: Node[],
  { what, at, pages }: { what: string; at: number; pages: number },
): Promise<void> {
  const index = at % nodes.length;
  const node = nodes[index];
  if (node === undefined) return;
  if (what === "close" && nodes.length > 1) {
    nodes.splice(index, 1);
    await close(node);
  } else if ("golden" in node) {
    if (what === "save") {
      const path = join(folder, `${String(at)}.golden`);
      await node.golden.save({ path });
      nodes.push({ golden: await loadAddon().loadGolden({ path }) });
      rmSync(path);
    } else {
      nodes.push({ machine: node.golden.fork({ generationId: randomBytes(16) }) });
    }
  } else if (what === "freeze") {
    nodes.push({ golden: await node.machine.freeze() });
  } else if (what === "branch" || what === "grade") {
    const options =
      what === "branch"
        ? { kind: "branch" as const, generationId: randomBytes(16) }
        : { kind: "grade" as const };
    nodes.push({ machine: await node.machine.fork(options) });
  } else {
    await node.machine.run({ maxInstructions: instructionsFor(pages) });
  }
}

async function close(node: Node): Promise<void> {
  if ("machine" in node) await node.machine.close();
  else node.golden.close();
}

describe("guest pages of the process", () => {
  it("go exactly where they came from when a random tree of forks is closed in a random order", async () => {
    const before = await memory();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        async (steps, order) => {
          const nodes: Node[] = [{ machine: await boot() }];
          for (const one of steps) await grow(nodes, one);
          let { livePages } = await memory();
          expect(livePages).toBeGreaterThan(before.livePages);
          while (nodes.length > 0) {
            const [node] = nodes.splice((order.next().value as number) % nodes.length, 1);
            if (node !== undefined) await close(node);
            const now = await memory();
            expect(now.livePages).toBeLessThanOrEqual(livePages);
            ({ livePages } = now);
          }
          expect(await memory()).toEqual(before);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("are shared by forks, and each fork's own are those that it wrote", async () => {
    const machine = await boot();
    await machine.run({ maxInstructions: instructionsFor(10) });
    const golden = await machine.freeze();
    const shared = await memory();
    const forks = Array.from({ length: 20 }, () => golden.fork({ kind: "grade" }));
    expect(await memory()).toMatchObject({ livePages: shared.livePages });
    for (const fork of forks) await fork.run({ maxInstructions: instructionsFor(7) });
    const own = forks.map((fork) => fork.stats().privateBytes / 4096);
    expect(own).toEqual(forks.map(() => 7));
    const total = own.reduce((sum, pages) => sum + pages, 0);
    expect((await memory()).livePages).toBe(shared.livePages + total);
    golden.close();
    await machine.close();
    // The golden's pages live on in its forks.
    expect((await memory()).livePages).toBe(shared.livePages + total);
    await Promise.all(forks.map((fork) => fork.close()));
    expect((await memory()).livePages).toBeLessThan(shared.livePages);
  });
});
