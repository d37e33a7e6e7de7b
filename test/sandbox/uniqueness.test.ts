/** Holds the lists of docs/uniqueness.md against programs in two branches of one machine. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/sandbox/sandbox.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../support/machine.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();

/** Draws numbers once /tmp/go is there; each has its generator from the time before the fork. */
const older: Readonly<Record<string, string>> = {
  bash: "bash -c ': $RANDOM; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo $RANDOM $RANDOM $RANDOM'",
  python: `python3 -c 'import os, random, time
while not os.path.exists("/tmp/go"): time.sleep(0.1)
print(random.random())'`,
  layout: "sh -c 'while [ ! -e /tmp/go ]; do sleep 0.1; done; sed -n 1p /proc/$$/maps'",
};
/** Has a generator of its own as well, and looks at the generation file before it draws. */
const looking = `python3 -c 'import os, random, time
generation = lambda: open("/run/shinken/generation").read()
known = generation()
while not os.path.exists("/tmp/go"): time.sleep(0.1)
if generation() != known: random.seed()
print(random.random())'`;

const run = async (machine: Sandbox, script: string): Promise<string> =>
  Buffer.from((await machine.exec({ argv: ["bash", "-c", script], user: "agent" })).stdout)
    .toString()
    .trim();

describe.skipIf(unavailable !== null)("in two branches of one machine", () => {
  let branches: Sandbox[];
  const inBoth = (script: string): Promise<string[]> =>
    Promise.all(branches.map((branch) => run(branch, script)));

  beforeAll(async () => {
    const golden = await provider().imageGolden(TEST_IMAGE);
    const machine = await golden.fork();
    for (const [name, program] of Object.entries({ ...older, looking }))
      await run(machine, `${program} > /tmp/${name} 2>&1 &`);
    await machine.wait(1000);
    branches = await Promise.all([machine.fork("branch"), machine.fork("branch")]);
    await machine.close();
    golden.close();
    await inBoth("touch /tmp/go");
    await Promise.all(branches.map((branch) => branch.wait(1000)));
  });
  afterAll(() => Promise.all(branches.map((branch) => branch.close())));

  it.each([
    ["Python's random", "python3 -c 'import random; print(random.random())'"],
    ["the hashes of Python", "python3 -c 'print(hash(\"a\"))'"],
    ["Perl's rand", "perl -e 'print rand()'"],
    ["the shell's $RANDOM", "bash -c 'echo $RANDOM $RANDOM $RANDOM'"],
    ["names of temporary files", "mktemp -u"],
    ["the layout of memory", "sed -n 1p /proc/self/maps"],
  ])("a program that starts after the fork has numbers of its own: %s", async (_what, script) => {
    const [one, other] = await inBoth(script);
    expect(one).not.toBe("");
    expect(other).not.toBe(one);
  });

  it.each(Object.keys(older))("a program that is older keeps what it had: %s", async (name) => {
    const [one, other] = await inBoth(`cat /tmp/${name}`);
    expect(one).not.toBe("");
    expect(other).toBe(one);
  });

  it("a program that takes the time for a seed gets the other's numbers", async () => {
    const draw = "gawk 'BEGIN { srand(); print systime(), rand() }'";
    let [one, other] = await inBoth(draw);
    // A second may have begun between the two; half a second later none does.
    if (one?.split(" ")[0] !== other?.split(" ")[0]) {
      await Promise.all(branches.map((branch) => branch.wait(500)));
      [one, other] = await inBoth(draw);
    }
    expect(one).toMatch(/^\d+ 0\.\d+$/);
    expect(other).toBe(one);
  });

  it("a program that looks at the generation file can have numbers of its own", async () => {
    const [one, other] = await inBoth("cat /tmp/looking");
    expect(one).toMatch(/^0\.\d+$/);
    expect(other).not.toBe(one);
  });
});
