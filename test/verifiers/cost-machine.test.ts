/** What looking into a machine costs it: counted in its own instructions, one way against another, never timed. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { evaluateMix, prepareMix } from "../../src/cli/mixed-checks.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { closePool } from "../../src/verifiers/index.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

describe.skipIf(unavailable !== null)("a look into a machine", () => {
  let golden: Golden;
  let box: Sandbox;
  const forks: Sandbox[] = [];
  const file = "/home/agent/bench/file-1.txt";
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    box = await golden.fork({ seed: new Uint8Array(32) });
    await prepareMix("ten", box);
  });
  afterEach(async () => {
    await Promise.all(forks.splice(0).map((fork) => fork.close()));
  });
  afterAll(async () => {
    await box.close();
    golden.close();
  });

  async function gradeFork(of: Sandbox = box): Promise<Sandbox> {
    const fork = await of.fork("grade");
    forks.push(fork);
    return fork;
  }

  /** Instructions of the machine while it serves `work`. */
  async function cost(machine: Sandbox, work: () => Promise<unknown>): Promise<number> {
    const before = machine.stats().instructions;
    await work();
    return machine.stats().instructions - before;
  }

  it("takes everything that ten mixed checks ask in one run of the machine, the workload's freeze included", async () => {
    let runs = 0;
    const counted = async (): Promise<Sandbox> => {
      const fork = await gradeFork();
      const { transport } = microvm(fork);
      const exchange = transport.exchange.bind(transport);
      transport.exchange = (...request) => {
        runs += 1;
        return exchange(...request);
      };
      return fork;
    };
    await evaluateMix("ten", { fork: counted } as unknown as Sandbox);
    expect(runs).toBe(1);
  });

  it("finds no more and no less than is asked for piece by piece, for less", async () => {
    const fork = await gradeFork();
    const pieces = async (): Promise<unknown> => ({
      stat: await fork.stat(file),
      bytes: await fork.readFile(file, { limit: 1000 }),
    });
    expect(await fork.look?.(file)).toEqual(await pieces());
    const all = await fork.processes();
    expect(await fork.commandLines?.()).toEqual(all.map(({ pid, argv }) => ({ pid, argv })));
    expect(await cost(fork, async () => fork.look?.(file))).toBeLessThan(await cost(fork, pieces));
    const lines = await cost(fork, async () => fork.commandLines?.());
    expect(lines).toBeLessThan(await cost(fork, () => fork.processes()));
  });

  it("searches for who left the workload only where somebody did", async () => {
    const other = await box.fork("branch");
    forks.push(other);
    const leave = "echo $$ > /sys/fs/cgroup/cgroup.procs; setsid sleep 8888 > /dev/null 2>&1 & sleep 0.1";
    await other.exec({ argv: ["sh", "-c", leave], user: "root" });
    const first = async (of: Sandbox): Promise<number> => {
      const fork = await gradeFork(of);
      return cost(fork, () => fork.stat(file));
    };
    expect((await first(box)) * 2).toBeLessThan(await first(other));
  });

  it("takes threads that the kernel starts for its own", async () => {
    const other = await box.fork("branch");
    forks.push(other);
    // Starts khugepaged.
    const start =
      "echo always > /sys/kernel/mm/transparent_hugepage/enabled; sleep 0.1; cat /proc/2/task/2/children";
    const { stdout } = await other.exec({ argv: ["sh", "-c", start], user: "root" });
    const before = await box.exec({ argv: ["cat", "/proc/2/task/2/children"], user: "root" });
    const count = (bytes: Uint8Array): number => Buffer.from(bytes).toString().trim().split(" ").length;
    expect(count(stdout)).toBeGreaterThan(count(before.stdout));
    const names = async (of: Sandbox): Promise<string[]> =>
      (await (await gradeFork(of)).processes()).map(({ name }) => name);
    expect(await names(other)).toEqual(await names(box));
  });
});
