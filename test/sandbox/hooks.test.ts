import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import { TaskEnvironmentFactory } from "../../src/env/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { isInfrastructure } from "../../src/errors/index.js";
import { nullOperator } from "../../src/operator/index.js";
import { evaluateTaskSet } from "../../src/rollout/index.js";
import { MicrovmProvider } from "../../src/sandbox/microvm/provider.js";
import type { Golden, Sandbox } from "../../src/sandbox/sandbox.js";
import { document } from "../env/session-support.js";
import { machinesUnavailable, TEST_IMAGE } from "../support/machine.js";
import { buildSmallImage } from "../support/small-image.js";
import { start, stopAll } from "../support/wire-server.js";

const unavailable = await machinesUnavailable();
const IMAGE = "hooked";
const hooks = "usr/lib/shinken/uniqueness.d";
const log = "/var/hooks";

/** Notes its name and environment; sees to it that the workload stands still; leaves something running. */
const first = `#!/bin/sh
if [ -e /tmp/ticks ]; then
  before=$(wc -c < /tmp/ticks)
  sleep 0.05
  [ "$before" = "$(wc -c < /tmp/ticks)" ] || exit 9
fi
{ echo first; cat /proc/$$/environ /etc/mark; echo; } >> ${log}
echo "$SHINKEN_GENERATION" > /mnt/etc/instance
sleep 1000 &
setsid sleep 2000 &
`;
/** Fails or hangs where the machine says so. */
const second = `#!/bin/sh
[ ! -e /srv/fails ] || exit 7
[ ! -e /srv/hangs ] || sleep 1000
{ echo second; cat /proc/$$/environ; echo; } >> ${log}
`;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const run = async (machine: Sandbox, script: string, user = "root"): Promise<string> =>
  text((await machine.exec({ argv: ["sh", "-c", script], user })).stdout);

interface Run {
  hook: string;
  environment: Record<string, string>;
  rest: string;
}

/** What the hooks have noted, oldest first. */
async function runs(machine: Sandbox): Promise<Run[]> {
  const lines = text(await machine.readFile(log))
    .trimEnd()
    .split("\n");
  return Array.from({ length: lines.length / 2 }, (_, index) => {
    const variables = (lines[2 * index + 1] ?? "").split("\0");
    const rest = variables.pop() ?? "";
    const environment = Object.fromEntries(
      variables.map((variable) => variable.split("=") as [string, string]),
    );
    return { hook: lines[2 * index] ?? "", environment, rest };
  });
}

describe.skipIf(unavailable !== null)("hooks of an image", () => {
  let provider: MicrovmProvider;
  let golden: Golden;

  beforeAll(async () => {
    const cacheDir = mkdtempSync(join(tmpdir(), "shinken-hooks-"));
    const base = new MicrovmProvider();
    const shell = await base.imageGolden(TEST_IMAGE);
    const machine = await shell.fork();
    expect(await machine.statIfExists(`/${hooks}`)).toBeNull();
    await buildSmallImage(cacheDir, IMAGE, machine, {
      [`${hooks}/10-first`]: { data: first, mode: 0o755 },
      [`${hooks}/20-second`]: { data: second, mode: 0o755 },
      "etc/mark": { data: "image" },
    });
    await buildSmallImage(cacheDir, "unfit", machine, {
      [`${hooks}/10-plain`]: { data: first, mode: 0o644 },
    });
    await machine.close();
    shell.close();
    await base.close();
    provider = new MicrovmProvider({ cacheDir });
    golden = await provider.imageGolden(IMAGE);
    return async () => {
      golden.close();
      expect(provider.openMachines()).toBe(0);
      await provider.close();
      rmSync(cacheDir, { recursive: true, force: true });
    };
  });

  it("run in order at every fork that becomes another machine, with its names and random bytes of their own", async () => {
    const machine = await golden.fork();
    const noted = await runs(machine);
    // Once when the image was booted, once in this fork.
    expect(noted.map((one) => one.hook)).toEqual(["first", "second", "first", "second"]);
    const generation = text(await machine.readFile("/run/shinken/generation")).trim();
    for (const { environment } of noted.slice(2)) {
      expect(environment).toEqual({
        PATH: expect.any(String) as string,
        HOME: "/nonexistent",
        LANG: "C.UTF-8",
        SHINKEN_GENERATION: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string,
        SHINKEN_HOSTNAME: text(await machine.readFile("/proc/sys/kernel/hostname")).trim(),
        SHINKEN_SEED: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
      expect(environment["SHINKEN_GENERATION"]?.replaceAll("-", "")).toBe(generation);
    }
    expect(new Set(noted.map((one) => one.environment["SHINKEN_SEED"])).size).toBe(4);
    await machine.close();
  });

  it("keep an image from booting if one could not run", async () => {
    await expect(provider.imageGolden("unfit")).rejects.toMatchObject({
      code: "fork_failed",
      message: expect.stringContaining("'hook 10-plain': EACCES") as string,
    });
    expect(provider.openMachines()).toBe(0);
  });

  it("write to the machine, and leave no process in it", async () => {
    const machine = await golden.fork();
    const instance = text(await machine.readFile("/etc/instance")).trim();
    expect(instance).toBe((await runs(machine)).at(-1)?.environment["SHINKEN_GENERATION"]);
    expect((await machine.processes()).filter((one) => one.argv[0] === "sleep")).toEqual([]);
    await machine.close();
  });

  it("repeat when the fork is seeded, and differ when it is not", async () => {
    const seed = createHash("sha256").update("hooks").digest();
    const machines = [await golden.fork({ seed }), await golden.fork({ seed }), await golden.fork()];
    const [one, same, other] = await Promise.all(machines.map(runs));
    expect(same).toEqual(one);
    expect(await machines[1]?.digest()).toBe(await machines[0]?.digest());
    expect(other?.at(-1)?.environment["SHINKEN_SEED"]).not.toBe(one?.at(-1)?.environment["SHINKEN_SEED"]);
    await Promise.all(machines.map((machine) => machine.close()));
  });

  it("run while the workload stands still", async () => {
    const machine = await golden.fork();
    await run(machine, "(while :; do echo tick >> /tmp/ticks; sleep 0.01; done) > /dev/null 2>&1 &");
    await machine.wait(100);
    const branch = await machine.fork("branch");
    const ticks = (await branch.stat("/tmp/ticks")).size;
    await branch.wait(100);
    expect((await branch.stat("/tmp/ticks")).size).toBeGreaterThan(ticks);
    await Promise.all([machine.close(), branch.close()]);
  });

  it("do not run in a grade fork", async () => {
    const machine = await golden.fork();
    const before = await runs(machine);
    const fork = await machine.fork("grade");
    expect(await fork.digest()).toBe(await machine.digest());
    expect(await runs(fork)).toEqual(before);
    await Promise.all([machine.close(), fork.close()]);
  });

  it("are the image's, whatever a workload with all rights has put in their place", async () => {
    const machine = await golden.fork();
    await run(
      machine,
      [
        `echo '#!/bin/sh\necho planted >> ${log}' > /${hooks}/00-planted`,
        `cat /${hooks}/00-planted > /${hooks}/10-first`,
        `echo forged > /etc/mark`,
        `while read -r line; do echo "$line"; done < /${hooks}/00-planted > /bin/cat`,
      ].join("\n"),
    );
    const branch = await machine.fork("branch");
    const noted = await runs(branch);
    expect(noted.map((one) => one.hook)).toEqual(Array(3).fill(["first", "second"]).flat());
    expect(noted.at(-2)?.rest).toBe("image");
    await Promise.all([machine.close(), branch.close()]);
  });

  it.each([
    ["fails", "exit 7"],
    ["hangs", "ETIMEDOUT"],
  ])("kill the fork in which one %s: a failure of the harness, no machine", async (how, why) => {
    const machine = await golden.fork();
    await machine.writeFile(`/srv/${how}`, "", { user: "root" });
    const before = provider.openMachines();
    const refused: unknown = await machine.fork("branch").catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: "fork_failed",
      message: `The fork failed its uniqueness step 'hook 20-second': ${why}.`,
    });
    expect(isInfrastructure(refused)).toBe(true);
    expect(provider.openMachines()).toBe(before);
    const frozen = await machine.freeze({ image: "", setup: how, seed: "", memoryMiB: 512 });
    await expect(frozen.fork()).rejects.toMatchObject({ code: "fork_failed" });
    expect(provider.openMachines()).toBe(before);
    frozen.close();
    // The parent has nothing of it.
    expect(await run(machine, "echo alive")).toBe("alive\n");
    await machine.close();
  });

  it("leave replicas ungraded and counted as failures of the harness, never with a reward", async () => {
    const setup = [{ exec: { argv: ["sh", "-c", ": > /srv/fails"], user: "root" } }];
    const task = makeTask({ ...document, image: IMAGE, params: {}, instruction: "-", setup, ready: [] });
    const factory = new TaskEnvironmentFactory({ provider, tasks: [task] });
    const server = await start({ factory });
    const report = await evaluateTaskSet({
      tasks: [task],
      operator: nullOperator,
      replicas: 2,
      seed: 1,
      connect: () => connect(server.url),
    });
    expect(report.tasks[0]).toMatchObject({ n: 0, ungraded: 2, score_mean: null, pass_at_1: null });
    expect(report.tasks[0]?.ungraded_reasons).toEqual([
      expect.stringMatching(/^fork_failed: .*hook 20-second/),
    ]);
    const metrics = await (await fetch(server.url.replace("ws:", "http:").replace("/v1", "/metrics"))).text();
    expect(metrics).toMatch(/shinken_infra_failures_total\{code="fork_failed"\} [1-9]/);
    await stopAll();
    factory.close();
    expect(provider.openMachines()).toBe(0);
  });
});
