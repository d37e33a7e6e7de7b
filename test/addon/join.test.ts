import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon, type NativeMachine } from "../../src/sandbox/microvm/addon.js";
import { endlessProgram, waitingProgram } from "./program.js";

let folder: string;
const machines: NativeMachine[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shinken-join-"));
  writeFileSync(join(folder, "endless"), endlessProgram());
  writeFileSync(join(folder, "waiting"), waitingProgram());
});
afterAll(async () => {
  await Promise.all(machines.map((machine) => machine.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function boot(program: string): Promise<NativeMachine> {
  const machine = await loadAddon().bootMachine({ program: join(folder, program), memoryMiB: 64 });
  machines.push(machine);
  return machine;
}

const joinAll = (...args: NativeMachine[]): void => {
  loadAddon().joinMachines(args);
};

describe("joined machines of the addon", () => {
  it("are machines, two or more, open, and each joined once", async () => {
    const [a, b, c] = await Promise.all([boot("waiting"), boot("waiting"), boot("waiting")]);
    expect(() => {
      loadAddon().joinMachines({} as NativeMachine[]);
    }).toThrow(/array/);
    expect(() => {
      joinAll(a, {} as NativeMachine);
    }).toThrow(/machines\[1\] must be a Machine/);
    expect(() => {
      joinAll(a);
    }).toThrow(/2 to 16/);
    await c.close();
    expect(() => {
      joinAll(a, c);
    }).toThrow(/closed/);
    joinAll(a, b);
    expect(() => {
      joinAll(a, b);
    }).toThrow(/once/);
    a.part();
    a.part();
  });

  it("count as one while one of them runs, and not when it has parted", async () => {
    const [a, b, c] = await Promise.all([boot("endless"), boot("waiting"), boot("waiting")]);
    joinAll(a, b, c);
    c.part();
    const running = a.run({});
    expect(() => b.digest()).toThrow(expect.objectContaining({ code: "busy" }));
    expect(await c.digest()).toMatch(/^[0-9a-f]{32}$/);
    a.cancel();
    expect((await running).reason).toBe("cancelled");
    expect(await b.digest()).toMatch(/^[0-9a-f]{32}$/);
  });

  it("are closed when the one that runs is done", async () => {
    const [a, b] = await Promise.all([boot("endless"), boot("waiting")]);
    joinAll(a, b);
    const running = a.run({});
    const closing = b.close();
    expect(b.closed).toBe(true);
    a.cancel();
    await running;
    await closing;
    expect((await a.run({ maxInstructions: 10 })).reason).toBe("instruction_limit");
  });

  it("do not run in host time", async () => {
    const [a, b] = await Promise.all([boot("waiting"), boot("waiting")]);
    joinAll(a, b);
    expect(() => a.run({ realtime: true })).toThrow(/host time/);
    expect((await a.run({})).reason).toBe("idle");
  });

  it("have a network card of an address for one station", async () => {
    const program = join(folder, "waiting");
    const withMac = (mac: Uint8Array): Promise<NativeMachine> =>
      loadAddon().bootMachine({ program, memoryMiB: 64, mac });
    expect(() => withMac(new Uint8Array(5))).toThrow(/mac.*6 bytes/);
    await expect(withMac(Uint8Array.of(1, 0, 0, 0, 0, 1))).rejects.toThrow(/one station/);
    const machine = await withMac(Uint8Array.of(2, 0, 0, 0, 0, 1));
    machines.push(machine);
    expect(() => {
      machine.setLink(1 as unknown as boolean);
    }).toThrow(/true or false/);
  });
});
