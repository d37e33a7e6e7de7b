/** A thousand machines of one golden: what makes two of them differ differs in all. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MicrovmGolden } from "../../src/sandbox/microvm/golden.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

/** For who has less time. */
const SIBLINGS = Number(process.env["SHINKEN_TEST_SIBLINGS"] ?? 1000);
/** Of them, those in which Python is started: that takes as long as all the rest. */
const PYTHONS = Math.min(100, SIBLINGS);
/** Machines that exist at a time. */
const TOGETHER = 20;

/**
 * A shell from before the fork that has registered for a signal (docs/uniqueness.md): told of the fork, it seeds its $RANDOM anew. Twice,
 * since a seed of it has 31 bits, of which two of a thousand machines may well draw the same.
 */
const older = `
draw() { local seed; read -r seed < /proc/sys/kernel/random/uuid; RANDOM=$((16#\${seed:0:8})); drawn+=" $RANDOM $RANDOM $RANDOM"; }
trap 'drawn=; draw; draw; echo $drawn > /tmp/older' USR1
: $RANDOM
read -r -a stat < /proc/$$/stat
echo "$$ 10 \${stat[21]}" > /run/shinken/notify.d/older
while :; do sleep 1000 & wait $!; done`;

/** One line a value: what a shell can do itself, it does. */
const probe = `set -eu
while [ ! -s /tmp/older ]; do sleep 0.01; done
for file in /proc/sys/kernel/random/boot_id /etc/machine-id /run/shinken/generation /proc/sys/kernel/hostname \
  /sys/class/net/eth0/address /proc/sys/kernel/random/uuid /tmp/older; do
  read -r line < $file; echo "$line"
done
openssl rand -hex 16
perl -e '$b = "0" x 16; syscall(278, $b, 16, 0); print unpack("H*", $b), "\\n"'
echo "$EPOCHREALTIME $(< /proc/net/fib_trie)"`;
const names = "bootId machineId generation hostname mac uuid older openssl getrandom".split(" ");

/** What starts after the fork and has a generator of its own. */
const python = `import random, secrets, uuid, os
print(random.getrandbits(64)); print(secrets.token_hex(16)); print(uuid.uuid4()); print(os.urandom(16).hex())
print(os.popen("bash -c 'echo $RANDOM $RANDOM $RANDOM'").read().strip())`;
const pythonNames = "random secrets uuid4 urandom shell".split(" ");

async function ask(machine: Sandbox, argv: string[], keys: string[]): Promise<[Map<string, string>, string]> {
  const result = await machine.exec({ argv, user: "agent" });
  const lines = Buffer.from(result.stdout).toString().split("\n");
  expect([result.exitCode, Buffer.from(result.stderr).toString()]).toEqual([0, ""]);
  return [new Map(keys.map((key, i) => [key, lines[i] ?? ""])), lines.slice(keys.length).join("\n")];
}

/** Everything that must differ, by its name; the machine's clock beside it. */
async function look(
  machine: Sandbox,
  withPython: boolean,
): Promise<{ unique: Map<string, string>; clock: string }> {
  const [unique, rest] = await ask(machine, ["bash", "-c", probe], names);
  const ip = /\|-- (10\.\S+)\n\s+\/32 host LOCAL/.exec(rest)?.[1] ?? "";
  expect({ mac: unique.get("mac"), ip }).toEqual(machine.address);
  unique.set("ip", ip);
  if (withPython) {
    const [more] = await ask(machine, ["python3", "-S", "-c", python], pythonNames);
    for (const [name, value] of more) unique.set(`python ${name}`, value);
  }
  return { unique, clock: rest.split(" ")[0] ?? "" };
}

describe.skipIf(unavailable !== null)("siblings", () => {
  let golden: Golden;

  beforeAll(async () => {
    const image = await provider().imageGolden(TEST_IMAGE);
    const machine = await image.fork();
    image.close();
    const start = `bash -c '${older.replaceAll("'", `'\\''`)}' > /dev/null 2>&1 &`;
    await machine.exec({ argv: ["bash", "-c", start], user: "agent" });
    // Once before the fork, and once for its code: the siblings then share what the programs are made of.
    for (const argv of [
      ["openssl", "rand", "1"],
      ["perl", "-e", "1"],
      ["python3", "-S", "-c", python],
    ])
      await machine.exec({ argv, user: "agent" });
    await machine.wait(500);
    golden = await machine.freeze({ image: "", setup: "older", seed: "", memoryMiB: 512 });
    await machine.close();
    const first = await golden.fork();
    await look(first, true);
    if (golden instanceof MicrovmGolden) await microvm(first).native.shareCodeWith(golden.shared.native);
    await first.close();
  });
  afterAll(() => {
    golden.close();
  });

  it(`are ${SIBLINGS} different machines in everything that programs take for unique`, async () => {
    const seen = new Map<string, Set<string>>();
    const asked = new Map<string, number>();
    let next = 0;
    const one = async (): Promise<void> => {
      for (let number = next++; number < SIBLINGS; number = next++) {
        const machine = await golden.fork();
        const { unique } = await look(machine, number < PYTHONS);
        await machine.close();
        for (const [name, value] of unique) {
          expect(value, name).not.toBe("");
          seen.set(name, (seen.get(name) ?? new Set()).add(value));
          asked.set(name, (asked.get(name) ?? 0) + 1);
        }
      }
    };
    await Promise.all(Array.from({ length: TOGETHER }, one));
    expect(Object.fromEntries([...seen].map(([name, values]) => [name, values.size]))).toEqual(
      Object.fromEntries([
        ...[...names, "ip"].map((name) => [name, SIBLINGS]),
        ...pythonNames.map((name) => [`python ${name}`, PYTHONS]),
      ]),
    );
  }, 1_200_000);

  it("are the same machine if they come from one seed: in all of that, in the clock, in every bit", async () => {
    const seed = createHash("sha256").update("siblings").digest();
    const runs = [];
    for (let run = 0; run < 2; run++) {
      const machine = await golden.fork({ seed });
      const seen = await look(machine, true);
      expect(seen.clock).toMatch(/^\d+\.\d{6}$/);
      const branch = await machine.fork("branch");
      const digests = await Promise.all([machine.digest(), branch.digest()]);
      runs.push({ ...seen, digests, branch: await look(branch, false), after: await branch.digest() });
      await Promise.all([machine.close(), branch.close()]);
    }
    expect(runs[1]).toEqual(runs[0]);
    // The branch is no twin of its parent.
    for (const name of names)
      expect(runs[0]?.branch.unique.get(name), name).not.toBe(runs[0]?.unique.get(name));
  });
});
