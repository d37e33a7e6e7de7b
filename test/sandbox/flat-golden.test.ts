/** What real machines make of flat guest memory: goldens that are read ahead, and frozen while their machine goes on. */
import { rmSync } from "node:fs";
import { expect, it, describe } from "vitest";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import { findGolden, goldenFolder, orderPath } from "../../src/sandbox/microvm/golden-folder.js";
import { GoldenStore } from "../../src/sandbox/microvm/golden-store.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const host = loadAddon().hostMemory();
const flat = host.refusal === null && host.coldGoldens && host.writeScan;

async function run(sandbox: Sandbox, script: string): Promise<string> {
  const { stdout } = await sandbox.exec({ argv: ["sh", "-c", script] });
  return Buffer.from(stdout).toString().trim();
}

describe.skipIf(unavailable !== null || !flat)("a golden from disk on uffd memory", () => {
  const provider = providerForFile({ memory: "uffd" });

  it("is read ahead in the order in which the process before touched it", async () => {
    const golden = await provider().imageGolden(TEST_IMAGE);
    const { path } = await findGolden(goldenFolder(), golden.digest);
    golden.close();
    rmSync(orderPath(path), { force: true });
    const seed = new Uint8Array(32).fill(9);
    const counted = () => loadAddon().engineStats().paths;
    const digests = new Set<string>();
    for (const time of [1, 2]) {
      const before = counted();
      const another = new MicrovmProvider({ memory: "uffd" });
      const loaded = await another.imageGolden(TEST_IMAGE);
      const machine = await loaded.fork({ seed });
      expect(await run(machine, "echo here")).toBe("here");
      digests.add(await machine.digest());
      if (time === 1) {
        expect(counted().prefetchedPages).toBe(before.prefetchedPages);
        expect(counted().coldFaults - before.coldFaults).toBeGreaterThan(100);
      } else {
        const { storedPages } = await loadAddon().inspectGolden({ path });
        // All that no fault was faster to fill, with its neighbours.
        while (
          counted().prefetchedPages - before.prefetchedPages <
          storedPages - 17 * (counted().coldFaults - before.coldFaults)
        )
          await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await machine.close();
      loaded.close();
      await another.close();
      const order = await new GoldenStore().order(golden.digest);
      const pages = new Uint32Array(new Uint8Array(order ?? []).buffer);
      expect(pages.length).toBeGreaterThan(100);
      expect(new Set(pages).size).toBe(pages.length);
    }
    expect(digests.size).toBe(1);
  });
});

describe.skipIf(unavailable !== null).each(flat ? (["soft", "uffd"] as const) : (["soft"] as const))(
  "freezing a machine on %s memory",
  (memory) => {
    const provider = providerForFile({ memory });
    const key = { image: "", setup: "live", seed: "", memoryMiB: 512 };

    it("keeps the moment, whatever is asked of the machine in the same breath", async () => {
      const golden = await provider().imageGolden(TEST_IMAGE);
      const machine = await golden.fork();
      await run(machine, "head -c 8000000 /dev/urandom > /tmp/data; cksum /tmp/data > /tmp/sum");
      const [first, , second, after] = await Promise.all([
        machine.freeze(key),
        run(machine, "head -c 8000000 /dev/zero > /tmp/data; echo later > /tmp/sum"),
        machine.freeze(key),
        run(machine, "cat /tmp/sum"),
      ]);
      expect(after).toBe("later");
      const [before, later] = await Promise.all([first.fork(), second.fork()]);
      expect(await run(before, "cksum /tmp/data | cmp - /tmp/sum && echo same")).toBe("same");
      expect(await run(later, "cat /tmp/sum")).toBe("later");
      for (const one of [first, second, golden]) one.close();
      await Promise.all([machine, before, later].map((one) => one.close()));
    });

    it("is finished although the machine is closed at once", async () => {
      const golden = await provider().imageGolden(TEST_IMAGE);
      const machine = await golden.fork();
      await run(machine, "echo kept > /tmp/kept");
      const freezing = machine.freeze(key);
      await run(machine, "true");
      const closing = machine.close();
      const frozen = await freezing;
      await closing;
      const fork = await frozen.fork();
      expect(await run(fork, "cat /tmp/kept")).toBe("kept");
      await fork.close();
      frozen.close();
      golden.close();
    });
  },
);
