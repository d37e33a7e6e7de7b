import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon, type NativeMachine } from "../../src/sandbox/microvm/addon.js";
import { runProgram } from "../../src/sandbox/microvm/program.js";
import { endlessProgram, printProgram, resetProgram, waitingProgram } from "./program.js";

/** A method taken off its object, to be called on something else. */
const method = (target: object, name: string) => Reflect.get(target, name) as () => unknown;

const root = fileURLToPath(new URL("../../", import.meta.url));
let folder: string;
const files: Record<string, string> = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shinken-addon-"));
  const programs = {
    shutdown: resetProgram(0),
    failure: resetProgram(1),
    hello: printProgram("hello\n"),
    endless: endlessProgram(),
    waiting: waitingProgram(),
  };
  for (const [name, bytes] of Object.entries(programs)) {
    files[name] = join(folder, `${name}.bin`);
    writeFileSync(files[name], bytes);
  }
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const program = (name: string): string => files[name] ?? "";
const boot = (name: string): Promise<NativeMachine> =>
  loadAddon().bootMachine({ program: program(name), memoryMiB: 64 });

describe("a program on a machine", () => {
  it("ends with 0 when it shuts down without a reason", async () => {
    expect((await runProgram({ program: program("shutdown"), memoryMiB: 64 })).exitCode).toBe(0);
  });
  it("ends with 1 when it reports a system failure", async () => {
    expect((await runProgram({ program: program("failure"), memoryMiB: 64 })).exitCode).toBe(1);
  });
  it("ends with 1 when it can never go on", async () => {
    const outcome = await runProgram({ program: program("waiting"), memoryMiB: 64 });
    expect(outcome).toMatchObject({ exitCode: 1, reason: "idle" });
  });
  it("ends with 2 at exactly the instruction limit", async () => {
    const outcome = await runProgram({ program: program("endless"), memoryMiB: 64, maxInstructions: 12_345 });
    expect(outcome).toMatchObject({ exitCode: 2, instructions: 12_345 });
  });
  it("shows what it prints", async () => {
    let text = "";
    await runProgram({ program: program("hello"), memoryMiB: 64 }, (bytes) => {
      text += Buffer.from(bytes).toString();
    });
    expect(text).toBe("hello\n");
  });
  it("can be stopped", async () => {
    const stop = new AbortController();
    const running = runProgram({ program: program("endless"), memoryMiB: 64 }, undefined, stop.signal);
    setTimeout(() => {
      stop.abort();
    }, 20);
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
  });
  it("is refused when its file is not there", async () => {
    await expect(runProgram({ program: join(folder, "absent") })).rejects.toMatchObject({
      code: "bad_request",
    });
  });
});

describe("arguments", () => {
  it("names the misspelt option and what was probably meant", () => {
    const wrong = { program: program("shutdown"), memoryMib: 64 } as unknown as { program: string };
    expect(() => loadAddon().bootMachine(wrong)).toThrow(/memoryMib.*memoryMiB/);
  });
  it.each([
    [{ program: "x", memoryMiB: 63 }, /memoryMiB/],
    [{ program: "x", memoryMiB: 64.5 }, /memoryMiB/],
    [{ program: "" }, /program/],
    [{ program: "a\0b" }, /program/],
    [{ program: "x", disks: {} }, /disks/],
    [{ program: "x", disks: [{ file: "y" }] }, /disks\[0\].*file/],
    [{ program: "x", rngSeed: new Uint8Array(31) }, /rngSeed/],
    [{ program: "x", rngSeed: "seed" }, /rngSeed/],
    ["x", /object/],
  ])("refuses %j before anything is made", (options, message) => {
    expect(() => loadAddon().bootMachine(options as unknown as { program: string })).toThrow(message);
  });
  it("refuses a stream number that is not 32 bits wide", async () => {
    const machine = await boot("endless");
    expect(() => machine.run({ awaitStream: 2 ** 32 })).toThrow(/awaitStream/);
    expect(() => machine.run({ port: "other" as "agent" })).toThrow(/port/);
    expect(() => machine.post("agent", "text" as unknown as Uint8Array)).toThrow(/Uint8Array/);
    await machine.close();
  });
});

describe("objects", () => {
  it("cannot be made by new", () => {
    const { Machine, Golden } = loadAddon();
    expect(() => new Machine()).toThrow(/bootMachine/);
    expect(() => new Golden()).toThrow(/freeze/);
  });
  it("refuse a method on an object of another kind", async () => {
    const machine = await boot("endless");
    const golden = await machine.freeze();
    expect(() => {
      Reflect.apply(method(machine, "stats"), golden, []);
    }).toThrow();
    expect(() => {
      Reflect.apply(method(golden, "facts"), machine, []);
    }).toThrow();
    expect(() => {
      Reflect.apply(method(machine, "stats"), {}, []);
    }).toThrow();
    expect(() => machine.shareCodeWith(machine as unknown as typeof golden)).toThrow(/Golden/);
    golden.close();
    await machine.close();
  });
  it("refuse a second call while one is in flight", async () => {
    const machine = await boot("endless");
    const running = machine.run({});
    expect(() => machine.run({})).toThrow(expect.objectContaining({ code: "busy" }));
    machine.cancel();
    expect((await running).reason).toBe("cancelled");
    await machine.close();
  });
});

describe("closing", () => {
  it("may be done twice, also at once", async () => {
    const before = loadAddon().engineStats().machines;
    const machine = await boot("endless");
    expect(loadAddon().engineStats().machines).toBe(before + 1);
    await Promise.all([machine.close(), machine.close()]);
    await machine.close();
    expect(machine.closed).toBe(true);
    expect(loadAddon().engineStats().machines).toBe(before);
    expect(() => machine.run({})).toThrow(expect.objectContaining({ code: "closed" }));
  });
  it("ends a run that is in flight", async () => {
    const machine = await boot("endless");
    const running = machine.run({});
    await machine.close();
    expect((await running).reason).toBe("cancelled");
  });
  it("leaves a golden's forks alive", async () => {
    const machine = await boot("endless");
    const golden = await machine.freeze();
    const child = golden.fork({ kind: "grade" });
    golden.close();
    golden.close();
    await machine.close();
    expect((await child.run({ maxInstructions: 10 })).runInstructions).toBe(10);
    await child.close();
  });
});

describe("a listener that throws", () => {
  it("ends the run, which rejects with its error", async () => {
    const machine = await boot("hello");
    const running = machine.run({}, undefined, () => {
      throw new RangeError("not this");
    });
    await expect(running).rejects.toThrow("not this");
    await machine.close();
  });
});

describe("forks", () => {
  it("are bit-identical when they are for grading, and go their own way", async () => {
    const machine = await boot("endless");
    await machine.run({ maxInstructions: 1000 });
    const child = await machine.fork({ kind: "grade" });
    expect(await child.digest()).toBe(await machine.digest());
    await child.run({ maxInstructions: 7 });
    expect(await child.digest()).not.toBe(await machine.digest());
    await machine.run({ maxInstructions: 7 });
    expect(await child.digest()).toBe(await machine.digest());
    await Promise.all([child.close(), machine.close()]);
  });
  it("are the same after a golden was saved and loaded", async () => {
    const machine = await boot("endless");
    await machine.run({ maxInstructions: 1000 });
    const golden = await machine.freeze();
    const path = join(folder, "saved.golden");
    await golden.save({ path, note: "a note" });
    const again = await loadAddon().loadGolden({ path });
    expect(again.facts()).toMatchObject({ note: "a note", memoryBytes: 64 * 1024 * 1024 });
    expect(await again.digest()).toBe(await golden.digest());
    golden.close();
    again.close();
    await machine.close();
  });
  it("need a generation ID when they are replicas", async () => {
    const machine = await boot("endless");
    const golden = await machine.freeze();
    expect(() => golden.fork({} as unknown as { kind: "grade" })).toThrow(/generationId/);
    golden.close();
    await machine.close();
  });
});

/** Runs JavaScript with the addon in a process of its own. */
function inChild(source: string): { status: number | null; stderr: string; stdout: string } {
  const preamble = `const addon = require("node-gyp-build")(${JSON.stringify(root)});
    const program = ${JSON.stringify(program("endless"))};`;
  const result = spawnSync(process.execPath, ["-e", `${preamble}${source}`], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { status: result.status, stderr: result.stderr, stdout: result.stdout };
}

describe("the end of a process", () => {
  it("is clean with live machines and a run in flight", () => {
    const result = inChild(`(async () => {
      const idle = await addon.bootMachine({ program, memoryMiB: 64 });
      const busy = await addon.bootMachine({ program, memoryMiB: 64 });
      busy.run({}); globalThis.keep = [idle, busy];
      setTimeout(() => process.exit(7), 50);
    })();`);
    expect(result).toMatchObject({ status: 7, stderr: "" });
  });
  it("comes by itself when machines are open but nothing runs", () => {
    const result = inChild(
      `addon.bootMachine({ program, memoryMiB: 64 }).then((m) => { globalThis.m = m; });`,
    );
    expect(result).toMatchObject({ status: 0, stderr: "" });
  });
  it("waits for a run", () => {
    const result =
      inChild(`addon.bootMachine({ program, memoryMiB: 64 }).then((m) => m.run({ maxInstructions: 1e6 }))
      .then((r) => console.log(r.instructions));`);
    expect(result).toMatchObject({ status: 0, stdout: "1000000\n" });
  });
});

describe("a worker thread", () => {
  const source = `const { parentPort, workerData } = require("node:worker_threads");
    const addon = require("node-gyp-build")(workerData.root);
    addon.bootMachine({ program: workerData.program, memoryMiB: 64 }).then(async (machine) => {
      const result = await machine.run({ maxInstructions: 5000 });
      machine.run({});
      parentPort.postMessage(result.instructions);
    });`;
  const start = (): Worker =>
    new Worker(source, { eval: true, workerData: { root, program: program("endless") } });

  it("loads the addon beside the main thread, and may be ended in the middle of a run", async () => {
    for (let i = 0; i < 3; i++) {
      const worker = start();
      const instructions = await new Promise((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      });
      expect(instructions).toBe(5000);
      expect(await worker.terminate()).toBe(1);
    }
    expect((await runProgram({ program: program("shutdown"), memoryMiB: 64 })).exitCode).toBe(0);
  });
});

describe("what a thousand machines leave behind", () => {
  it("is nothing: no descriptor, thread, mapping or machine", () => {
    const counted = execFileSync(
      process.execPath,
      ["--expose-gc", join(root, "test/addon/leak.cjs"), program("endless")],
      {
        encoding: "utf8",
      },
    );
    const { before, after } = JSON.parse(counted) as Record<"before" | "after", Record<string, number>>;
    expect(after["fds"]).toBe(before["fds"]);
    expect(after["threads"]).toBe(before["threads"]);
    expect(after["machines"]).toBe(0);
    expect(after["goldens"]).toBe(0);
    // Allocators keep some arenas; a leaked page table or machine would be a thousand times these.
    expect((after["mappings"] ?? 0) - (before["mappings"] ?? 0)).toBeLessThan(50);
    expect((after["rssKiB"] ?? 0) - (before["rssKiB"] ?? 0)).toBeLessThan(32 * 1024);
  });
});
