import { describe, expect, it } from "vitest";
import type { MemoryBound } from "../../src/sandbox/host-memory.js";
import { Admission } from "../../src/sandbox/microvm/admission.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";

const MiB = 1024 ** 2;
const unavailable = await machinesUnavailable();

/** A host of 1,000 MiB, of which `used` are taken. */
function host(used: number): MemoryBound[] {
  return [
    { name: "the host's memory", totalBytes: 1000 * MiB, availableBytes: (1000 - used) * MiB },
    { name: "the control group's memory", totalBytes: 4000 * MiB, availableBytes: 4000 * MiB },
  ];
}
const made = (): Promise<string> => Promise.resolve("made");
const refused = { code: "out_of_memory", retry: true };

describe("admission by memory", () => {
  it("refuses what would pass the share of a bound, and says what to do", async () => {
    const state = { used: 895 };
    const admission = new Admission({ share: 0.9, bounds: () => host(state.used), now: clock(1_000) });
    expect(await admission.during("ordinary", 4 * MiB, made)).toBe("made");
    state.used = 899;
    await expect(admission.during("ordinary", 4 * MiB, made)).rejects.toMatchObject({
      ...refused,
      message: "899 MiB of 1000 MiB of the host's memory are in use, and one more machine would pass 90 %",
      suggestion: expect.stringContaining("try again") as string,
    });
    expect(admission.refused).toBe(1);
    state.used = 800;
    expect(await admission.during("ordinary", 4 * MiB, made)).toBe("made");
  });

  it("counts machines that are being made before the host's figures show them", async () => {
    // The clock stands still: the host is read once.
    const admission = new Admission({ share: 0.9, bounds: () => host(890), now: () => 0 });
    let finish = (_made: string): void => undefined;
    const making = new Promise<string>((resolve) => {
      finish = resolve;
    });
    const two = [1, 2].map(() => admission.during("ordinary", 4 * MiB, () => making));
    await expect(admission.during("ordinary", 4 * MiB, made)).rejects.toMatchObject(refused);
    finish("made");
    await Promise.all(two);
    // They are made, but nobody has looked at the host since.
    await expect(admission.during("ordinary", 4 * MiB, made)).rejects.toMatchObject(refused);
  });

  it("leaves grade forks half of what others may not use", async () => {
    const admission = new Admission({ share: 0.9, bounds: () => host(940), now: clock(1_000) });
    await expect(admission.during("ordinary", 4 * MiB, made)).rejects.toMatchObject(refused);
    expect(await admission.during("grade", 4 * MiB, made)).toBe("made");
    await expect(admission.during("grade", 40 * MiB, made)).rejects.toMatchObject(refused);
  });

  it("refuses a checkpoint in the same way, and counts no machine for it", async () => {
    const admission = new Admission({ share: 0.9, bounds: () => host(899), now: clock(1_000) });
    expect(await admission.during("checkpoint", MiB / 2, made)).toBe("made");
    await expect(admission.during("checkpoint", 4 * MiB, made)).rejects.toMatchObject({
      ...refused,
      message: "899 MiB of 1000 MiB of the host's memory are in use, and one more checkpoint would pass 90 %",
    });
    expect(admission.refused).toBe(0);
  });

  it("has caches freed before it refuses, once for all who ask", async () => {
    const state = { used: 950, relieved: 0 };
    const admission = new Admission({
      bounds: () => host(state.used),
      now: clock(1),
      relieve: () => {
        state.relieved += 1;
        state.used = 500;
        return Promise.resolve();
      },
    });
    const all = [1, 2, 3].map(() => admission.during("ordinary", 4 * MiB, made));
    expect(await Promise.all(all)).toEqual(["made", "made", "made"]);
    expect(state.relieved).toBe(1);
  });

  it("lets everything in where the host says nothing", async () => {
    const admission = new Admission({ bounds: () => [] });
    expect(await admission.during("ordinary", 2 ** 50, made)).toBe("made");
  });

  it("takes no share but one above 0 and up to 1", () => {
    for (const share of [0, -1, 1.01, Number.NaN]) {
      expect(() => new Admission({ share })).toThrow(expect.objectContaining({ code: "bad_request" }));
    }
  });
});

describe.skipIf(unavailable !== null)("a provider on a host that is full", () => {
  it("makes no machine, says so with a code, and goes on when there is room again", async () => {
    const state = { used: 100 };
    const provider = new MicrovmProvider({ memoryBounds: () => host(state.used) });
    const golden = await provider.imageGolden(TEST_IMAGE);
    const machine = await golden.fork();
    state.used = 999;
    await later();
    await expect(golden.fork()).rejects.toMatchObject(refused);
    await expect(machine.fork("branch")).rejects.toMatchObject(refused);
    await expect(machine.fork("grade")).rejects.toMatchObject(refused);
    expect(provider.refusedForks()).toBe(3);
    expect(provider.openMachines()).toBe(1);
    // Who is in, works on.
    expect((await machine.exec({ argv: ["true"] })).exitCode).toBe(0);
    state.used = 100;
    await later();
    const child = await machine.fork("grade");
    await Promise.all([child.close(), machine.close()]);
    golden.close();
    await provider.close();
  });
});

/** A clock that goes on by so many milliseconds whenever it is read. */
function clock(step: number): () => number {
  let now = 0;
  return () => (now += step);
}

/** Until the host's figures are read anew. */
function later(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 60));
}
