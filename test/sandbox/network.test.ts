import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { MicrovmSandbox } from "../../src/sandbox/microvm/sandbox.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
let golden: Golden;

const seedOf = (text: string): Uint8Array => createHash("sha256").update(text).digest();

async function run(sandbox: Sandbox, script: string): Promise<string> {
  const { stdout } = await sandbox.exec({ argv: ["sh", "-c", script], user: "root" });
  return Buffer.from(stdout).toString().trim();
}

const closeAll = (machines: readonly Sandbox[]): Promise<unknown> =>
  Promise.all(machines.map((one) => one.close()));

const carrierChanges = async (sandbox: Sandbox): Promise<number> =>
  Number(await run(sandbox, "cat /sys/class/net/eth0/carrier_changes"));

/** The card as the guest's own tools show it. */
async function cardOf(sandbox: Sandbox): Promise<{ mac: string; ip: string; flags: string }> {
  const [link] = JSON.parse(await run(sandbox, "ip -j address show eth0")) as {
    address: string;
    flags: string[];
    addr_info: { family: string; local: string }[];
  }[];
  const ip = link?.addr_info.filter(({ family }) => family === "inet").map(({ local }) => local);
  return { mac: link?.address ?? "", ip: ip?.join() ?? "", flags: link?.flags.join() ?? "" };
}

/** Answers one connection after the other with what it was sent, in capitals. */
const echoServer = [
  "import socket",
  "s = socket.create_server(('', 7000))",
  "while True:",
  "    c, _ = s.accept()",
  "    with c, c.makefile('rb') as f:",
  "        for line in f: c.sendall(line.upper())",
].join("\n");

const serve = (sandbox: Sandbox): Promise<string> =>
  run(sandbox, `python3 -c "${echoServer}" > /dev/null 2>&1 & sleep 1`);

const ask = (sandbox: Sandbox, ip: string, text: string): Promise<string> =>
  run(
    sandbox,
    `timeout 20 python3 -c "import socket
s = socket.create_connection(('${ip}', 7000)); s.sendall(b'${text}\\n'); print(s.makefile().readline())" 2>&1`,
  );

describe.skipIf(unavailable !== null)("the network card of a fork", () => {
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    return () => {
      golden.close();
    };
  });

  it("has the addresses of its fork packet, which no sibling has, and is up", async () => {
    const machines = await Promise.all([golden.fork(), golden.fork(), golden.fork()]);
    const cards = await Promise.all(machines.map(cardOf));
    for (const [index, { mac, ip, flags }] of cards.entries()) {
      expect({ mac, ip }).toEqual(machines[index]?.address);
      expect(flags).toContain("LOWER_UP");
    }
    expect(new Set(cards.map(({ mac }) => mac)).size).toBe(3);
    expect(new Set(cards.map(({ ip }) => ip)).size).toBe(3);
    await closeAll(machines);
  });

  it("has its MAC address in the device itself, where a driver that starts anew finds it", async () => {
    const machine = await golden.fork();
    const driver = "/sys/bus/virtio/drivers/virtio_net";
    await run(
      machine,
      `d=$(basename ${driver}/virtio*); echo $d > ${driver}/unbind; echo $d > ${driver}/bind`,
    );
    expect(await run(machine, "cat /sys/class/net/eth0/address")).toBe(machine.address?.mac);
    await machine.close();
  });

  it("has seen its link go down and up again, in a branch too", async () => {
    const machine = await golden.fork();
    // Up at boot; down and up for the boot's own step; down before the golden, up in the fork.
    const before = await carrierChanges(machine);
    expect(before).toBeGreaterThanOrEqual(3);
    const branch = await machine.fork("branch");
    expect(await carrierChanges(branch)).toBe(before + 2);
    expect(await cardOf(branch)).toMatchObject({ ...branch.address });
    expect(branch.address?.mac).not.toBe(machine.address?.mac);
    await closeAll([machine, branch]);
  });

  it("stays down in a branch if its machine took it down", async () => {
    const machine = await golden.fork();
    await run(machine, "ip link set eth0 down");
    const branch = await machine.fork("branch");
    expect((await cardOf(branch)).flags).not.toContain("UP");
    expect((await cardOf(branch)).mac).toBe(branch.address?.mac);
    await closeAll([machine, branch]);
  });

  it("is found under another name, too", async () => {
    const machine = await golden.fork();
    await run(machine, "ip link set eth0 down; ip link set eth0 name lan0; ip link set lan0 up");
    const branch = await machine.fork("branch");
    expect(await run(branch, "cat /sys/class/net/lan0/address")).toBe(branch.address?.mac);
    await closeAll([machine, branch]);
  });

  it("sends nothing by itself", async () => {
    const machine = await golden.fork();
    await machine.wait(3_600_000);
    expect(machine.stats().network).toMatchObject({ sentFrames: 0, droppedFrames: 0 });
    await machine.close();
  });

  it("reaches nobody, and what it sends is counted", async () => {
    const machine = await golden.fork();
    const [first, second] = await Promise.all([golden.fork(), golden.fork()]);
    expect(await ask(machine, first.address?.ip ?? "", "hello")).toMatch(/No route to host|timed out/);
    const { sentFrames, droppedFrames, droppedBytes } = machine.stats().network ?? {};
    expect(sentFrames).toBe(0);
    expect(droppedFrames).toBeGreaterThan(0);
    // Address requests, of 42 bytes each.
    expect(droppedBytes).toBe(42 * (droppedFrames ?? 0));
    await closeAll([machine, first, second]);
  });

  it("loses its carrier with its cable", async () => {
    const machine = await golden.fork();
    if (!(machine instanceof MicrovmSandbox)) throw new Error("the provider makes other machines");
    const carrier = (): Promise<string> => run(machine, "sleep 2; cat /sys/class/net/eth0/carrier");
    expect(await carrier()).toBe("1");
    machine.native.setLink(false);
    expect(await carrier()).toBe("0");
    machine.native.setLink(true);
    expect(await carrier()).toBe("1");
    await machine.close();
  });
});

describe.skipIf(unavailable !== null)("machines on one switch", () => {
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
    return () => {
      golden.close();
    };
  });

  it("reach each other, and part again", async () => {
    const [a, b] = await Promise.all([golden.fork(), golden.fork()]);
    const network = await provider().join([a, b]);
    await serve(b);
    expect(await ask(a, b.address?.ip ?? "", "over the wire")).toBe("OVER THE WIRE");
    expect(a.stats().network?.sentFrames).toBeGreaterThan(3);
    expect(a.stats().network?.droppedFrames).toBe(0);
    expect(b.stats().network?.receivedFrames).toBeGreaterThan(3);
    await network.close();
    const sent = a.stats().network?.sentFrames;
    expect(await ask(a, b.address?.ip ?? "", "nobody")).not.toContain("NOBODY");
    expect(a.stats().network?.sentFrames).toBe(sent);
    expect(a.stats().network?.droppedFrames).toBeGreaterThan(0);
    await closeAll([a, b]);
  });

  it("carry a file over HTTP, whole", async () => {
    const [a, b] = await Promise.all([golden.fork(), golden.fork()]);
    await provider().join([a, b]);
    await run(b, "head -c 1000000 /dev/urandom > /srv/file");
    await run(b, "cd /srv && python3 -m http.server 80 > /dev/null 2>&1 & sleep 3");
    const url = `http://${b.address?.ip ?? ""}/file`;
    const sum = await run(a, `curl -sS ${url} | sha256sum`);
    expect(sum).toBe(await run(b, "sha256sum < /srv/file"));
    await closeAll([a, b]);
  });

  it("do the same, to the bit, when they are asked the same again", async () => {
    const digests: string[][] = [];
    for (let i = 0; i < 2; i++) {
      const pair = await Promise.all([
        golden.fork({ seed: seedOf("a") }),
        golden.fork({ seed: seedOf("b") }),
      ]);
      const [a, b] = pair;
      await provider().join(pair);
      await serve(b);
      expect(await ask(a, b.address?.ip ?? "", "again")).toBe("AGAIN");
      await b.wait(10_000);
      digests.push(await Promise.all(pair.map((machine) => machine.digest())));
      await closeAll(pair);
    }
    expect(digests[1]).toEqual(digests[0]);
  });

  it("let an idle minute pass at once, for all of them", async () => {
    const machines = await Promise.all([golden.fork(), golden.fork(), golden.fork()]);
    await provider().join(machines);
    const before = machines.map((machine) => machine.stats().guestMs);
    await machines[0].wait(60_000);
    for (const [index, machine] of machines.entries())
      expect(machine.stats().guestMs - (before[index] ?? 0)).toBeGreaterThanOrEqual(60_000);
    await closeAll(machines);
  });

  it("leave their forks and grade forks closed", async () => {
    const [a, b] = await Promise.all([golden.fork(), golden.fork()]);
    await provider().join([a, b]);
    await serve(b);
    const branch = await a.fork("branch");
    expect(await ask(branch, b.address?.ip ?? "", "hello")).not.toContain("HELLO");
    const grade = await a.fork("grade");
    expect(await grade.digest()).toBe(await a.digest());
    await expect(provider().join([grade, branch])).rejects.toMatchObject({ code: "bad_request" });
    await closeAll([a, b, branch, grade]);
  });

  it("keep checkpoints, each of itself, and branches of those are on no switch", async () => {
    const checkpoints = { budgetBytes: 16 * 1024 ** 2 };
    const [a, b] = await Promise.all([golden.fork({ checkpoints }), golden.fork({ checkpoints })]);
    await provider().join([a, b]);
    const keep = (step: number) => Promise.all([a.checkpoint?.(step), b.checkpoint?.(step)]);
    await keep(0);
    await serve(b);
    expect(await ask(a, b.address?.ip ?? "", "first")).toBe("FIRST");
    const kept = await keep(1);
    expect(kept.map((one) => one?.digest)).toEqual([await a.digest(), await b.digest()]);
    expect(await ask(a, b.address?.ip ?? "", "second")).toBe("SECOND");
    const branch = await a.forkAt?.(1);
    if (branch === undefined) throw new Error("the provider keeps no checkpoints");
    expect(await ask(branch, b.address?.ip ?? "", "third")).not.toContain("THIRD");
    await closeAll([a, b, branch]);
  });

  it("go on when one of them is closed, even while another works", async () => {
    const [a, b] = await Promise.all([golden.fork(), golden.fork()]);
    await provider().join([a, b]);
    const working = run(a, "sleep 30; echo done");
    const closing = b.close();
    expect(await working).toBe("done");
    await closing;
    expect(await ask(a, b.address?.ip ?? "", "anyone")).not.toContain("ANYONE");
    await a.close();
  });

  it("are cancelled one by one", async () => {
    const [a, b] = await Promise.all([golden.fork(), golden.fork()]);
    await provider().join([a, b]);
    const endless = a.exec({ argv: ["sh", "-c", "while :; do :; done"] });
    const after = run(b, "echo fine");
    setTimeout(() => {
      a.cancel();
    }, 50);
    await expect(endless).rejects.toMatchObject({ code: "cancelled" });
    expect(await after).toBe("fine");
    await closeAll([a, b]);
  });

  it("are two or more different ones, joined once, and never wait for a person", async () => {
    const [a, b, c] = await Promise.all([golden.fork(), golden.fork(), golden.fork()]);
    await expect(provider().join([a])).rejects.toMatchObject({ code: "bad_request" });
    await expect(provider().join([a, a])).rejects.toMatchObject({ code: "bad_request" });
    const network = await provider().join([a, b]);
    await expect(provider().join([b, c])).rejects.toMatchObject({ code: "bad_request" });
    expect(() => a.stream({ argv: ["cat"] })).toThrow(/switch/);
    await network.close();
    const again = await provider().join([b, c]);
    await again.close();
    await closeAll([a, b, c]);
  });
});
