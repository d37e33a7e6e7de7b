import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();

function holdings(): { fds: number; threads: number; mappings: number; rssMiB: number } {
  const status = readFileSync("/proc/self/status", "utf8");
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    fds: readdirSync("/proc/self/fd").length,
    threads: field("Threads"),
    mappings: readFileSync("/proc/self/maps", "utf8").split("\n").length,
    rssMiB: field("VmRSS") / 1024,
  };
}

describe.skipIf(unavailable !== null || process.platform !== "linux")(
  "a thousand machines of a golden",
  () => {
    it("leave nothing behind when they are closed", async () => {
      const provider = new MicrovmProvider();
      const golden = await provider.imageGolden(TEST_IMAGE);
      const round = async (works: boolean): Promise<void> => {
        const machine = await golden.fork();
        if (works) await machine.exec({ argv: ["true"] });
        await machine.close();
      };
      for (let i = 0; i < 40; i++) await round(true); // pools, arenas and compiled code reach their size
      const before = holdings();
      const { livePages, tables } = loadAddon().engineStats();
      // Every one becomes ready, every tenth runs a command.
      for (let i = 0; i < 1000; i++) await round(i % 10 === 0);
      const after = holdings();
      expect(loadAddon().engineStats()).toMatchObject({ machines: 0, inFlight: 0, livePages, tables });
      expect(provider.openMachines()).toBe(0);
      expect(after.fds).toBe(before.fds);
      expect(after.threads).toBe(before.threads);
      expect(after.mappings - before.mappings).toBeLessThan(100);
      // A ready machine owns about half a MiB: a hundred of the thousand that stayed would be fifty.
      expect(after.rssMiB - before.rssMiB).toBeLessThan(40);
      golden.close();
      await provider.close();
      while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
      expect(loadAddon().engineStats()).toMatchObject({
        machines: 0,
        goldens: 0,
        livePages: 0,
        heldBytes: 0,
        tables: 0,
        filePages: 0,
      });
    });

    it("are closed with their provider, also those that are still being made", async () => {
      const provider = new MicrovmProvider();
      const golden = await provider.imageGolden(TEST_IMAGE);
      await golden.fork();
      const making = Promise.allSettled([golden.fork(), golden.fork()]);
      await provider.close();
      for (const one of await making) expect(one.status).toBe("rejected");
      golden.close();
      expect(provider.openMachines()).toBe(0);
      expect(loadAddon().engineStats().machines).toBe(0);
      await expect(provider.imageGolden(TEST_IMAGE)).rejects.toMatchObject({ code: "machine_closed" });
    });
  },
);
