/**
 * Sessions that mean harm, with all rights in their own machine: they suffer, and nobody else. A victim does its steps beside each of
 * them, and what it sees and is stays the same to the bit.
 */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { replaceAgent } from "../support/fake-agent.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

const MIB = 1024 * 1024;
/** Resident memory that the process may gain beyond guest pages: decoded code, what a run keeps of its output, JavaScript's heap. */
const BESIDE_MIB = 500;

const attack = async (
  machine: Sandbox,
  script: string,
  timeoutMs: number,
): Promise<{ output: string; timedOut: boolean; oomKilled: boolean }> => {
  const result = await machine.exec({ argv: ["bash", "-c", script], user: "root", timeoutMs });
  return { ...result, output: Buffer.from(result.stdout).toString() + Buffer.from(result.stderr).toString() };
};

/**
 * Takes a virtio device from its driver, maps its registers, and fills them and the queues that they name with random words: \`sw\` and \`lw\`, as
 * machine code, since nothing else here is sure to be one access.
 */
const garbage = (device: string, words: number): string => `
cat > /tmp/garbage.py <<'END'
import ctypes, mmap, os, random, struct
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(struct.pack("<IIII", 0x00b52023, 0x00008067, 0x00052503, 0x00008067))
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
store = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32)(at)
load = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)(at + 8)
random.seed(1)
ram = lambda: 0x80000000 + random.randrange(0x20000000) & ~0xf
def write(base, words):
  for n in range(words):
    if n % 50 == 0:
      # A queue that the device accepts, in memory that is somebody's.
      for offset, value in [(0x70, 0), (0x70, 3), (0x24, 1), (0x20, 1), (0x24, 0), (0x20, random.getrandbits(6)), (0x70, 11),
          (0x30, random.randrange(8)), (0x38, 1 << random.randrange(9)), (0x80, ram()), (0x90, ram()), (0xa0, ram()), (0x44, 1), (0x70, 15)]:
        store(base + offset, value)
    store(base + 4 * random.randrange(64), random.choice([random.getrandbits(32), random.getrandbits(4), ram()]))
    store(base + 0x50, random.randrange(8))
    load(base + 4 * random.randrange(128))
# Once on memory of its own: what it needs of its interpreter is loaded before the disk goes.
practice = mmap.mmap(-1, 4096)
write(ctypes.addressof(ctypes.c_char.from_buffer(practice)), 60)
memory = os.open("/dev/mem", os.O_RDWR | os.O_SYNC)
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
try: os.write(os.open("/sys/bus/platform/drivers/virtio-mmio/unbind", os.O_WRONLY), b"${device}.virtio_mmio")
except OSError: pass
registers = mmap.mmap(memory, 4096, offset=0x${device})
base = ctypes.addressof(ctypes.c_char.from_buffer(registers))
assert load(base) == 0x74726976
write(base, ${words})
print("written")
END
python3 /tmp/garbage.py`;

describe.skipIf(unavailable !== null)("a hostile session", () => {
  let golden: Golden;
  let expected: string[];

  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    expected = await victim();
  });
  afterAll(() => {
    golden.close();
  });

  /** Steps of somebody else: their output, and the machine's digest after each. */
  async function victim(): Promise<string[]> {
    const machine = await golden.fork({ seed: createHash("sha256").update("victim").digest() });
    const seen = [];
    for (let step = 0; step < 5; step++) {
      const script = `echo ${step} >> /tmp/steps; cat /tmp/steps; date +%N; head -c 8 /dev/urandom | od -An -tx1`;
      const { stdout, exitCode } = await machine.exec({ argv: ["sh", "-c", script] });
      seen.push(`${exitCode} ${Buffer.from(stdout).toString()}`, await machine.digest());
    }
    await machine.close();
    return seen;
  }

  /** Runs an attack on a machine of its own beside the victim; then the host holds no more than before. */
  async function beside<T>(work: (machine: Sandbox) => Promise<T>): Promise<T> {
    const before = loadAddon().engineStats();
    const resident = process.memoryUsage.rss();
    let highest = 0;
    const watch = setInterval(() => {
      highest = Math.max(highest, loadAddon().engineStats().liveBytes);
    }, 5);
    const machine = await golden.fork();
    try {
      const [result, seen] = await Promise.all([work(machine), victim()]);
      expect(seen).toEqual(expected);
      // Its own memory and the victim's; not a page more.
      expect(Math.max(highest, loadAddon().engineStats().liveBytes)).toBeLessThan(
        before.liveBytes + 2 * golden.memoryBytes,
      );
      expect(process.memoryUsage.rss()).toBeLessThan(resident + golden.memoryBytes + BESIDE_MIB * MIB);
      return result;
    } finally {
      clearInterval(watch);
      await machine.close();
      expect(loadAddon().engineStats()).toMatchObject({ livePages: before.livePages, tables: before.tables });
    }
  }

  it.each([
    ["spins", "while :; do :; done"],
    ["bombs itself with processes", "bomb() { bomb | bomb & }; bomb; sleep 1000"],
    ["floods its console", "exec > /dev/console; while :; do echo flood flood flood flood flood; done"],
    ["floods its kernel's log", "exec > /dev/kmsg; while :; do echo flood; done"],
    ["floods its output", "cat /dev/zero"],
    [
      "sends frames to nowhere",
      "ip link set eth0 up; ping -f -q 10.255.255.255 -b || while :; do echo x > /dev/udp/10.1.1.1/9; done",
    ],
  ])("that %s is stopped at its time, and its machine goes on", async (_what, script) => {
    await beside(async (machine) => {
      expect((await attack(machine, script, 400)).timedOut).toBe(true);
      expect((await attack(machine, "echo alive", 10_000)).output).toBe("alive\n");
    });
  });

  it("that takes all memory is killed for it, and its machine goes on", async () => {
    await beside(async (machine) => {
      expect(await attack(machine, "tail /dev/zero", 60_000)).toMatchObject({ oomKilled: true });
      await attack(machine, "head -c 2G /dev/zero > /fill", 60_000);
      const { privateBytes, memoryBytes } = machine.stats();
      expect(privateBytes).toBeLessThanOrEqual(memoryBytes);
      expect((await attack(machine, "rm /fill; echo alive", 10_000)).output).toBe("alive\n");
    });
  });

  it("that maps its network card and writes garbage to it goes on without one", async () => {
    await beside(async (machine) => {
      expect((await attack(machine, garbage("10008000", 20_000), 60_000)).output).toContain("written");
      const fork = await machine.fork("grade");
      expect(await fork.digest()).toBe(await machine.digest());
      await fork.close();
    });
  });

  it("that writes garbage to its disk loses it, and at worst its machine", async () => {
    await beside(async (machine) => {
      // The interpreter's own pages may be gone: whatever becomes of it, it ends.
      await attack(machine, garbage("10002000", 2000), 5000).catch((error: unknown) => error);
    });
  });

  it("that writes garbage to its own agent's port's device is given up", async () => {
    await beside(async (machine) => {
      await expect(attack(machine, garbage("10001000", 2000), 5000)).rejects.toMatchObject({
        code: expect.stringMatching(/machine_died|machine_timeout|agent_protocol/) as string,
      });
    });
  });

  it.each([
    [
      "empty frames without an end",
      `
flood = frame(stream, 3, op=1) * 4096
while True: write(flood)`,
    ],
    [
      "frames of streams that are nobody's",
      `
flood = b"".join(frame(9000 + n, 3, op=1, payload=bytes(40)) for n in range(1000))
while True: write(flood)`,
    ],
    [
      "more data than it was allowed",
      `
flood = frame(stream, 3, op=1, payload=bytes(65536)) * 4
while True: write(flood)`,
    ],
    ["what is no frame", "write(bytes([255] * 100000))\nwhile True: request()"],
    [
      "a reply of nonsense",
      "write(frame(stream, 2, FINAL, payload=bytes([0xdf]) + bytes([255] * 60000)))\nwhile True: request()",
    ],
    [
      "a reply nested without an end",
      "write(frame(stream, 2, FINAL, payload=bytes([0x91] * 65000)))\nwhile True: request()",
    ],
  ])("whose agent was replaced and sends %s is given up, at a bounded cost", async (_what, script) => {
    await beside(async (machine) => {
      await replaceAgent(microvm(machine), `\nstream, kind, op, payload = request()\n${script}\n`);
      const heap = process.memoryUsage().heapUsed;
      await expect(machine.exec({ argv: ["true"], timeoutMs: 20_000 })).rejects.toMatchObject({
        code: expect.stringMatching(/agent_protocol|machine_timeout/) as string,
      });
      expect(process.memoryUsage().heapUsed - heap).toBeLessThan(BESIDE_MIB * MIB);
    });
  });
});
