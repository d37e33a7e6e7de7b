import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { packageRoot } from "../../src/images/assets.js";
import { MachineBudget } from "../../src/sandbox/budget.js";
import type { MemoryKind } from "../../src/sandbox/microvm/addon.js";
import { drawIdentity } from "../../src/sandbox/microvm/identity.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import { Siblings } from "../../src/sandbox/microvm/siblings.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();

const seedOf = (text: string): Uint8Array => createHash("sha256").update(text).digest();
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString().trim();

async function run(sandbox: Sandbox, script: string, user = "agent"): Promise<string> {
  return text((await sandbox.exec({ argv: ["sh", "-c", script], user })).stdout);
}

/** Everything by which a guest program may tell two machines apart. */
async function identityOf(sandbox: Sandbox): Promise<Record<string, string>> {
  const script = [
    "cat /proc/sys/kernel/random/boot_id /etc/machine-id",
    "hostname",
    "cat /run/shinken/generation",
    "head -c 16 /dev/urandom | od -An -tx1",
    // getrandom is system call 278 on riscv64.
    `perl -e '$b = "0" x 16; syscall(278, $b, 16, 0); print unpack("H*", $b), "\\n"'`,
  ].join("; ");
  const [boot, machine, host, generation, urandom, getrandom] = (await run(sandbox, script)).split("\n");
  const whole = { boot, machine, host, generation, urandom, getrandom };
  for (const [name, value] of Object.entries(whole)) if (!value) throw new Error(`${name} is empty`);
  return whole as Record<string, string>;
}

const closeAll = (machines: Sandbox[]): Promise<unknown> => Promise.all(machines.map((one) => one.close()));

describe("identities", () => {
  it("derive from the seed and the path alone, and differ in every value otherwise", () => {
    const seed = seedOf("a");
    expect(drawIdentity(seed, "replica")).toEqual(drawIdentity(seed, "replica"));
    for (const other of [
      drawIdentity(seed, "branch/1"),
      drawIdentity(seedOf("b"), "replica"),
      drawIdentity(null, "replica"),
    ]) {
      for (const [name, value] of Object.entries(drawIdentity(seed, "replica")))
        expect(other[name as keyof typeof other]).not.toEqual(value);
    }
    expect(drawIdentity(null, "replica")).not.toEqual(drawIdentity(null, "replica"));
  });
  it("are well-formed", () => {
    const identity = drawIdentity(null, "replica");
    expect(identity.generation).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(identity.machineId).toMatch(/^[0-9a-f]{32}$/);
    expect(identity.hostname).toMatch(/^m-[0-9a-f]{8}$/);
    expect(Number.parseInt(identity.mac.slice(0, 2), 16) & 3).toBe(2);
    expect(identity.entropy.length).toBeGreaterThanOrEqual(32);
  });
  it("want a seed of 32 bytes", () => {
    expect(() => drawIdentity(new Uint8Array(31), "replica")).toThrow(/32 bytes/);
  });
});

describe("the comparison among siblings", () => {
  const sample = new Uint8Array(32).fill(1);
  it("refuses random numbers that another fork has shown", () => {
    const siblings = new Siblings();
    expect(siblings.admit(sample, null, "replica")).toBe(true);
    expect(siblings.admit(sample, null, "replica")).toBe(false);
    expect(siblings.admit(sample, seedOf("a"), "replica")).toBe(false);
  });
  it("takes equal ones from one and the same seed, and only those", () => {
    const siblings = new Siblings();
    expect(siblings.admit(sample, seedOf("a"), "replica")).toBe(true);
    expect(siblings.admit(sample, seedOf("a"), "replica")).toBe(true);
    expect(siblings.admit(sample, seedOf("b"), "replica")).toBe(false);
    expect(siblings.admit(sample, seedOf("a"), "branch")).toBe(false);
  });
});

const memories: MemoryKind[] = ["soft", "uffd"];

describe.skipIf(unavailable !== null).each(memories)("forks of a real machine with %s memory", (memory) => {
  const provider = providerForFile({ memory });
  let golden: Golden;

  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    return () => {
      golden.close();
    };
  });

  it("cannot see each other", async () => {
    const [a, b] = await Promise.all([golden.fork(), golden.fork()]);
    await a.writeFile("/tmp/mark", "a");
    await run(a, "rm -f /etc/hostname; echo x > /etc/changed", "root");
    expect(await b.statIfExists("/tmp/mark")).toBeNull();
    expect(await b.statIfExists("/etc/changed")).toBeNull();
    await closeAll([a, b]);
  });

  it("differ in everything that is to be unique, and live in the present", async () => {
    const machines = await Promise.all([golden.fork(), golden.fork(), golden.fork()]);
    const identities = await Promise.all(machines.map(identityOf));
    for (const name of Object.keys(identities[0] ?? {})) {
      expect(new Set(identities.map((identity) => identity[name])).size, name).toBe(3);
    }
    const clock = Number(await run(machines[0], "date +%s"));
    expect(Math.abs(clock - Date.now() / 1000)).toBeLessThan(600);
    for (const machine of machines) expect(machine.readyMs).toBeGreaterThan(0);
    await closeAll(machines);
  });

  it("are equal to the bit from one seed, and different from another", async () => {
    const seeds = [seedOf("one"), seedOf("one"), seedOf("two")];
    const machines = await Promise.all(seeds.map((seed) => golden.fork({ seed })));
    const [first, same, other] = await Promise.all(machines.map((machine) => machine.digest()));
    expect(same).toBe(first);
    expect(other).not.toBe(first);
    const identities = await Promise.all(machines.map(identityOf));
    expect(identities[1]).toEqual(identities[0]);
    expect(await machines[1]?.digest()).toBe(await machines[0]?.digest());
    await closeAll(machines);
  });

  it("are equal in other processes, too, interpreted or translated, after the same inputs", async () => {
    const machine = await golden.fork({ seed: seedOf("elsewhere") });
    const script =
      "date; head -c 8 /dev/urandom | od -An -tx1; python3 -c 'import random; print(random.random())'";
    const output = await run(machine, script);
    const digest = await machine.digest();
    await machine.close();
    for (const translation of ["never", "hot", "all"]) {
      const child = spawnSync(
        process.execPath,
        [
          join(packageRoot(), "test/sandbox/replay.mjs"),
          Buffer.from(seedOf("elsewhere")).toString("hex"),
          script,
        ],
        {
          encoding: "utf8",
          env: { ...process.env, SHINKEN_MEMORY: memory, SHINKEN_TRANSLATION: translation },
        },
      );
      expect(child.stderr).toBe("");
      expect(JSON.parse(child.stdout)).toEqual({ output, digest });
    }
  });

  describe("for grading", () => {
    it("are the machine itself, to the bit", async () => {
      const machine = await golden.fork();
      await machine.writeFile("/tmp/work", "done");
      const fork = await machine.fork("grade");
      expect(await fork.digest()).toBe(await machine.digest());
      await closeAll([machine, fork]);
    });
    it("go on as the machine does, to the bit", async () => {
      const machine = await golden.fork();
      await run(machine, "(while :; do date +%N > /tmp/tick; sleep 0.01; done) > /dev/null 2>&1 &");
      const before = await machine.digest();
      const fork = await machine.fork("grade");
      for (const one of [machine, fork]) await microvm(one).native.run({ maxGuestMs: 200 });
      expect(await machine.digest()).not.toBe(before);
      expect(await fork.digest()).toBe(await machine.digest());
      await closeAll([machine, fork]);
    });
    it("leave it untouched, whatever a check does", async () => {
      const machine = await golden.fork();
      const before = await machine.digest();
      const fork = await machine.fork("grade");
      await fork.exec({ argv: ["sh", "-c", "rm -rf /tmp/* /home/agent; pkill -9 -u agent"], user: "root" });
      await fork.writeFile("/tmp/graded", "yes", { user: "root" });
      await fork.close();
      expect(await machine.digest()).toBe(before);
      await machine.close();
    });
    it("see what the machine has, twice the same", async () => {
      const machine = await golden.fork();
      await machine.writeFile("/home/agent/answer", "42");
      for (let i = 0; i < 2; i++) {
        const fork = await machine.fork("grade");
        expect(text(await fork.readFile("/home/agent/answer"))).toBe("42");
        expect(await run(fork, "cat /home/agent/answer", "root")).toBe("42");
        await fork.close();
      }
      await machine.close();
    });
    it("answer questions that are asked at once as if they were asked one by one", async () => {
      const machine = await golden.fork();
      const names = Array.from({ length: 40 }, (_, index) => `/tmp/many-${index}`);
      await run(machine, "for i in $(seq 0 39); do echo $i > /tmp/many-$i; done; seq 20000 > /tmp/large");
      const fork = await machine.fork("grade");
      const early = names.map((name) => fork.readFile(name).then(text));
      const large = fork.readFile("/tmp/large");
      const written = fork.writeFile("/tmp/many-0", "changed", { user: "root" });
      const late = fork.readFile("/tmp/many-0").then(text);
      expect(await Promise.all(early)).toEqual(names.map((_, index) => String(index)));
      expect(text(await large).split("\n")).toHaveLength(20_000);
      await written;
      expect(await late).toBe("changed");
      await closeAll([machine, fork]);
    });
    it("run nothing that the machine left behind, and programs of the image only", async () => {
      const machine = await golden.fork();
      await run(machine, "nohup sh -c 'while :; do date +%N > /tmp/tick; done' > /dev/null 2>&1 &");
      await run(
        machine,
        "printf '#!/bin/sh\\necho forged\\n' > /usr/bin/cat; chmod 755 /usr/bin/cat",
        "root",
      );
      const fork = await machine.fork("grade");
      const tick = text(await fork.readFile("/tmp/tick"));
      await fork.wait(100);
      expect(text(await fork.readFile("/tmp/tick"))).toBe(tick);
      const argv = ["sh", "-c", "echo real | cat"];
      expect(text((await fork.exec({ argv, user: "root" })).stdout)).toBe("real");
      expect(await run(machine, "echo real | cat")).toBe("forged");
      await closeAll([machine, fork]);
    });
  });

  describe("with a budget", () => {
    it("are stopped at its instruction, and run nothing more", async () => {
      const machine = await golden.fork();
      const budget = new MachineBudget({ instructions: 20_000_000 });
      const fork = await machine.fork("grade", { budget });
      const before = fork.stats().instructions;
      const spin = { argv: ["sh", "-c", "while :; do :; done"], timeoutMs: 600_000 };
      await expect(fork.exec(spin)).rejects.toMatchObject({
        code: "machine_timeout",
        message: expect.stringContaining("20000000 instructions") as string,
      });
      expect(fork.stats().instructions - before).toBe(20_000_000);
      const other = await machine.fork("grade", { budget });
      for (const one of [fork, other])
        await expect(one.stat("/etc")).rejects.toMatchObject({ code: "machine_timeout" });
      expect(fork.stats().instructions - before).toBe(20_000_000);
      expect(budget.exceeded).toBe("20000000 instructions");
      await closeAll([fork, other, machine]);
    });
    it("are stopped at its machine time, also where they only wait", async () => {
      const machine = await golden.fork();
      const budget = new MachineBudget({ guestMs: 5_000 });
      const fork = await machine.fork("grade", { budget });
      const before = fork.stats().guestMs;
      await expect(fork.exec({ argv: ["sleep", "1000"] })).rejects.toMatchObject({ code: "machine_timeout" });
      expect(fork.stats().guestMs - before).toBeGreaterThanOrEqual(5_000);
      expect(fork.stats().guestMs - before).toBeLessThan(5_002);
      await closeAll([fork, machine]);
    });
  });

  describe("taken from a running machine", () => {
    it("go on from its state under another name, with its clock", async () => {
      const machine = await golden.fork();
      await machine.writeFile("/tmp/shared", "before");
      await machine.wait(900_000);
      const branch = await machine.fork("branch");
      expect(text(await branch.readFile("/tmp/shared"))).toBe("before");
      const [mine, its] = await Promise.all([identityOf(machine), identityOf(branch)]);
      for (const name of Object.keys(mine)) expect(its[name], name).not.toBe(mine[name]);
      expect(Number(await run(branch, "date +%s")) * 1000 - Date.now()).toBeGreaterThan(600_000);
      await branch.writeFile("/tmp/shared", "branch");
      expect(text(await machine.readFile("/tmp/shared"))).toBe("before");
      await closeAll([machine, branch]);
    });
    it("repeat when the run is seeded, and differ from each other", async () => {
      const digests: string[][] = [];
      for (let i = 0; i < 2; i++) {
        const machine = await golden.fork({ seed: seedOf("tree") });
        const first = await machine.fork("branch");
        const second = await machine.fork("branch");
        digests.push(await Promise.all([first.digest(), second.digest()]));
        await closeAll([machine, first, second]);
      }
      expect(digests[1]).toEqual(digests[0]);
      expect(digests[0]?.[0]).not.toBe(digests[0]?.[1]);
    });
    it("end what their parent had open, and leave the parent's alone", async () => {
      const machine = await golden.fork();
      const shell = await machine.dialogue({ argv: ["sh"] });
      const branch = await machine.fork("branch");
      expect((await shell.ask("echo here; echo @end\n", { marker: "@end" })).reason).toBe("matched");
      expect(await run(branch, "echo alive")).toBe("alive");
      await shell.close();
      await closeAll([machine, branch]);
    });
  });

  it("of a golden with a setup are made once for all who ask at once, and again from disk", async () => {
    let setups = 0;
    const digest = createHash("sha256").update("test setup 1").digest("hex");
    const setup = async (sandbox: Sandbox): Promise<void> => {
      setups += 1;
      await sandbox.writeFile("/srv/prepared", "yes", { user: "root" });
    };
    const [a, b] = await Promise.all([
      provider().setupGolden(TEST_IMAGE, digest, setup),
      provider().setupGolden(TEST_IMAGE, digest, setup),
    ]);
    expect(setups).toBeLessThanOrEqual(1);
    expect(a.digest).toBe(b.digest);
    a.close();
    const fork = await b.fork();
    b.close();
    expect(text(await fork.readFile("/srv/prepared"))).toBe("yes");
    await fork.close();
    const other = new MicrovmProvider({ memory });
    const again = await other.setupGolden(TEST_IMAGE, digest, () =>
      Promise.reject(new Error("it is on disk")),
    );
    expect(again.digest).toBe(a.digest);
    await other.close();
  });

  it("fail as an infrastructure failure when a setup fails, and leave no machine", async () => {
    const before = provider().openMachines();
    const setup = (): Promise<void> => Promise.reject(new RangeError("setup broke"));
    await expect(provider().setupGolden(TEST_IMAGE, "never", setup)).rejects.toThrow("setup broke");
    expect(provider().openMachines()).toBe(before);
  });

  it("are killed when their agent does not acknowledge", async () => {
    const machine = microvm(await golden.fork());
    const stop = [
      'for p in /proc/[0-9]*; do [ "$(cat $p/oom_score_adj)" = -1000 ] && agent=${p#/proc/}; done',
      "(sleep 0.2; kill -STOP $agent) > /dev/null 2>&1 &",
    ];
    await run(machine, stop.join("; "), "root");
    await machine.native.run({ maxGuestMs: 1000 });
    const deaf = await machine.freeze({ image: "", setup: "deaf", seed: "", memoryMiB: 512 });
    await machine.close();
    const before = provider().openMachines();
    await expect(deaf.fork()).rejects.toMatchObject({ code: "fork_failed" });
    expect(provider().openMachines()).toBe(before);
    deaf.close();
  });
});

describe.skipIf(unavailable !== null)("a machine with flat memory", () => {
  const providers = memories.map((memory) => providerForFile({ memory }));

  it("is at every step in the state of one with soft memory, down to its branches", async () => {
    const goldens = await Promise.all(providers.map((provider) => provider().imageGolden(TEST_IMAGE)));
    let machines = await Promise.all(goldens.map((golden) => golden.fork({ seed: seedOf("both") })));
    const digests = async (): Promise<void> => {
      const [soft, flat] = await Promise.all(machines.map((machine) => machine.digest()));
      expect(flat).toBe(soft);
    };
    const work = [
      "seq 20000 | sort -R --random-source=/etc/passwd | sha256sum",
      "python3 -c 'import json, sqlite3; print(len(json.dumps(list(range(50000)))))'",
      "cp -r /etc /tmp/etc && rm -r /tmp/etc/a*",
    ];
    for (const script of work) {
      const [soft, flat] = await Promise.all(machines.map((machine) => run(machine, script)));
      expect(flat).toBe(soft);
      await digests();
    }
    const branches = await Promise.all(machines.map((machine) => machine.fork("branch")));
    await closeAll(machines);
    machines = branches;
    await Promise.all(machines.map((machine) => run(machine, work[1] ?? "")));
    await digests();
    expect(microvm(machines[1] as Sandbox).native.stats().paths.scannedPages).toBeGreaterThan(0);
    expect(microvm(machines[0] as Sandbox).native.stats().paths.scannedPages).toBe(0);
    await closeAll(machines);
    for (const golden of goldens) golden.close();
  });
});
