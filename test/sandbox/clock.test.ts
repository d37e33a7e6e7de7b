/** The clocks of forks: the wall clock is the host's, all others go on as if nothing had happened. */
import { availableParallelism } from "node:os";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

const DAY_MS = 86_400_000;
/** Guest milliseconds by which a fork's wall clock may miss the host's. */
const WALL_CLOCK_MS = 10;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString().trim();
const run = async (machine: Sandbox, script: string): Promise<string> =>
  text((await machine.exec({ argv: ["bash", "-c", script], user: "agent" })).stdout);

/** A process that reads every clock a hundred times a second, and writes down what it saw. */
const sampler = `import time
clocks = [time.CLOCK_MONOTONIC, time.CLOCK_MONOTONIC_RAW, time.CLOCK_BOOTTIME, time.CLOCK_REALTIME]
with open("/tmp/clocks", "w", buffering=1) as log:
  while True:
    print(*map(time.clock_gettime_ns, clocks), file=log)
    time.sleep(0.01)`;

describe.skipIf(unavailable !== null)("the clock of a fork", () => {
  let golden: Golden;
  /** The wall clock that was frozen with the golden, in milliseconds, and its machine's age. */
  let frozenAt: number, frozenAge: number;

  beforeAll(async () => {
    const image = await provider().imageGolden(TEST_IMAGE);
    const machine = await image.fork();
    image.close();
    await machine.writeFile("/tmp/sampler.py", sampler);
    await run(machine, "python3 /tmp/sampler.py > /dev/null 2>&1 &");
    await machine.wait(1000);
    frozenAt = Number(await run(machine, "echo $EPOCHREALTIME")) * 1000;
    frozenAge = machine.stats().guestMs;
    golden = await machine.freeze({ image: "", setup: "sampler", seed: "", memoryMiB: 512 });
    await machine.close();
  });
  afterAll(() => {
    golden.close();
  });

  /** A fork of the golden when it is so old; the host's clock stands still meanwhile. */
  async function forkAfter(ms: number): Promise<{ machine: Sandbox; host: number }> {
    const host = Math.round(frozenAt + ms);
    const clock = vi.spyOn(Date, "now").mockReturnValue(host);
    try {
      return { machine: await golden.fork(), host };
    } finally {
      clock.mockRestore();
    }
  }

  it("is the host's within ten milliseconds, if the golden is a day old and if it is new", async () => {
    for (const age of [0, DAY_MS, 400 * DAY_MS, -DAY_MS]) {
      const { machine, host } = await forkAfter(age);
      const wall = Number(await run(machine, "echo $EPOCHREALTIME")) * 1000;
      // No host time has passed since, and so much guest time.
      const passed = machine.stats().guestMs - frozenAge;
      expect(Math.abs(wall - host), `${age} ms`).toBeLessThan(WALL_CLOCK_MS + passed);
      expect(wall - host, `${age} ms`).toBeGreaterThanOrEqual(0);
      expect(passed).toBeLessThan(WALL_CLOCK_MS * 2);
      await machine.close();
    }
  });

  it("is exactly what a fork is told, and with its seed makes the same machine again", async () => {
    const seed = Buffer.alloc(32, 7);
    const clock = { seconds: 1_234_567_890, nanoseconds: 5_000_000 };
    const machines = [await golden.fork({ seed, clock }), await golden.fork({ seed, clock })];
    const [one, other] = machines as [Sandbox, Sandbox];
    expect(one.clock).toEqual(clock);
    expect(await other.digest()).toBe(await one.digest());
    const wall = Number(await run(one, "echo $EPOCHREALTIME"));
    expect(wall).toBeGreaterThanOrEqual(1_234_567_890.005);
    expect(wall).toBeLessThan(1_234_567_890.005 + (2 * WALL_CLOCK_MS) / 1000);
    const later = await golden.fork({ seed, clock: { ...clock, seconds: clock.seconds + 1 } });
    expect(await later.digest()).not.toBe(await other.digest());
    await Promise.all([...machines, later].map((machine) => machine.close()));
  });

  it("is told to a fork as the fork says it was, so that one without a seed can be named", async () => {
    const { machine, host } = await forkAfter(DAY_MS);
    expect(machine.clock).toEqual({ seconds: Math.floor(host / 1000), nanoseconds: (host % 1000) * 1e6 });
    const seeded = await golden.fork({ seed: Buffer.alloc(32, 8) });
    const branch = await machine.fork("branch");
    const moved = await machine.fork("branch", { clock: { seconds: 2_000_000_000, nanoseconds: 0 } });
    expect([seeded.clock, branch.clock, moved.clock?.seconds]).toEqual([null, null, 2_000_000_000]);
    expect((await run(moved, "echo $EPOCHREALTIME")).split(".")[0]).toBe("2000000000");
    await Promise.all([machine, seeded, branch, moved].map((each) => each.close()));
  });

  it("is refused if it is no time", async () => {
    for (const [path, clock] of [
      ["clock.seconds", { seconds: -1, nanoseconds: 0 }],
      ["clock.seconds", { seconds: 0.5, nanoseconds: 0 }],
      ["clock.nanoseconds", { seconds: 0, nanoseconds: 1_000_000_000 }],
      ["clock.nanoseconds", { seconds: 0, nanoseconds: Number.NaN }],
    ] as const)
      await expect(golden.fork({ clock })).rejects.toMatchObject({ code: "bad_request", path });
  });

  it("is drawn in the fork's own turn, however many are asked for at once", async () => {
    let [drawn, ready, most] = [0, 0, 0];
    const real = Date.now.bind(Date);
    const clock = vi.spyOn(Date, "now").mockImplementation(() => {
      drawn += 1;
      most = Math.max(most, drawn - ready);
      return real();
    });
    const machines = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const machine = await golden.fork();
        ready += 1;
        return machine;
      }),
    );
    clock.mockRestore();
    expect(drawn).toBe(60);
    expect(most).toBeLessThanOrEqual(4 * availableParallelism());
    await Promise.all(machines.map((machine) => machine.close()));
  });

  it("leaves the others alone: a process that is older than the fork sees them go on evenly, never back", async () => {
    const { machine, host } = await forkAfter(DAY_MS);
    await machine.wait(2000);
    const rows = text(await machine.readFile("/tmp/clocks"))
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(" ").map((value) => Number(value) / 1e6));
    const wallOf = (row: readonly number[]): number => row[3] ?? 0;
    const [before, after] = [
      rows.filter((row) => wallOf(row) < host - DAY_MS / 2),
      rows.filter((row) => wallOf(row) >= host - DAY_MS / 2),
    ];
    expect(before.length).toBeGreaterThan(50);
    expect(after.length).toBeGreaterThan(100);
    for (let i = 1; i < rows.length; i++) {
      for (let clock = 0; clock < 3; clock++) {
        const step = (rows[i]?.[clock] ?? 0) - (rows[i - 1]?.[clock] ?? 0);
        expect(step, `clock ${clock} at sample ${i}`).toBeGreaterThan(0);
        expect(step, `clock ${clock} at sample ${i}`).toBeLessThan(100);
      }
    }
    await machine.close();
  });

  it("brings no storm of timers: the first second after a day costs what it costs in a new golden's fork", async () => {
    const costs = [];
    for (const age of [0, DAY_MS]) {
      const { machine } = await forkAfter(age);
      const ticks = async (): Promise<number> =>
        Number(
          await run(
            machine,
            "while read -r irq n _ kind; do case $kind in *riscv-timer*) echo $n;; esac; done < /proc/interrupts",
          ),
        );
      const [instructions, interrupts] = [machine.stats().instructions, await ticks()];
      await machine.wait(1000);
      costs.push({
        instructions: machine.stats().instructions - instructions,
        interrupts: (await ticks()) - interrupts,
      });
      await machine.close();
    }
    const [fresh, old] = costs;
    expect(fresh?.interrupts).toBeGreaterThan(50);
    expect(old?.interrupts).toBeLessThan(1.2 * (fresh?.interrupts ?? 0));
    expect(old?.instructions).toBeLessThan(1.2 * (fresh?.instructions ?? 0));
  });
});
