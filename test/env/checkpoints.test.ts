/** Time travel: sessions that keep the state after each step, on real machines of both memories. */
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { checkEnv } from "../../src/env/conformance/index.js";
import { hostTimeKeys } from "../../src/env/conformance/index.js";
import type { CheckpointInfo, EnvironmentOptions } from "../../src/env/checkpoints.js";
import type { Environment, EnvironmentEvent, StepResult } from "../../src/env/environment.js";
import { TaskEnvironmentFactory } from "../../src/env/factory.js";
import { Session } from "../../src/env/session/session.js";
import { TaskScenario } from "../../src/env/session/task-scenario.js";
import { makeTask } from "../../src/env/task/index.js";
import { loadAddon, type MemoryKind } from "../../src/sandbox/microvm/addon.js";
import { closePool } from "../../src/verifiers/index.js";
import { machinesUnavailable, microvm, providerForFile, TEST_IMAGE } from "../support/machine.js";
import { document, openWorlds, sh } from "./session-support.js";
import { describeOnHost } from "./support.js";

const unavailable = await machinesUnavailable();
afterAll(() => closePool());

const keep: EnvironmentOptions = { checkpoints: { budgetMiB: 64 } };
const MiB = 1024 ** 2;
const seed = 7;
const params = { times: 1 };

/** What two runs have to have alike. */
const alike = ({ observation, reward, terminated, truncated, info }: StepResult) => ({
  observation,
  reward,
  terminated,
  truncated,
  info: Object.fromEntries(Object.entries(info).filter(([key]) => !hostTimeKeys.includes(key))),
});
const checkpointOf = (info: Record<string, unknown>) => info["checkpoint"] as CheckpointInfo;
function ofSession(one: Environment): Session {
  if (!(one instanceof Session)) throw new Error("the environment is no session");
  return one;
}
const digestOf = (one: Session) => microvm(one.episode().machine).digest();

/** Writes, counts, random numbers, the clock: five steps of which each depends on those before. */
const script = [
  [sh("echo 1 > one; cat /proc/sys/kernel/random/uuid")],
  [sh("head -c 300000 /dev/urandom > big; date +%s%N; cksum big")],
  [sh("echo 2 > two; cat /proc/uptime")],
  [sh("rm two; cksum big >> sums; wc -l sums")],
  [{ type: "shell", command: "cat sums; head -c 8 /dev/urandom | od -x" }],
];

/** What the first memory's session told. */
let toldBefore: CheckpointInfo[] | undefined;

describe.skipIf(unavailable !== null).each<MemoryKind>(["soft", "uffd"])(
  "a session that keeps checkpoints, on %s memory",
  (memory) => {
    const provider = providerForFile({ memory });
    const open: Environment[] = [];
    let factory: TaskEnvironmentFactory | undefined;
    afterEach(async () => {
      for (const one of open.splice(0)) await one.close();
      factory?.close();
      factory = undefined;
      expect(provider().openMachines()).toBe(0);
    });
    const made = async (options: EnvironmentOptions = keep, limits?: object): Promise<Session> => {
      const task = makeTask({ ...document, ...limits });
      factory ??= new TaskEnvironmentFactory({ provider: provider(), tasks: [task] });
      const session = ofSession(await factory.create("two-files", options));
      open.push(session);
      return session;
    };
    const forked = async (from: Environment, atStep?: number): Promise<Session> => {
      const branch = ofSession(await from.fork({ atStep }));
      open.push(branch);
      return branch;
    };

    it("tells the digest and the pages of each step, equal seeds and actions the same, on either memory", async () => {
      const tellings: CheckpointInfo[][] = [];
      for (const _ of [1, 2]) {
        const session = await made();
        const infos = [checkpointOf((await session.reset({ seed, params })).info)];
        expect(infos[0]).toMatchObject({ step: 0, digest: await digestOf(session) });
        for (const actions of script) {
          const info = checkpointOf((await session.step(actions)).info);
          expect(info.digest).toBe(await digestOf(session));
          infos.push(info);
        }
        expect(infos.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5]);
        for (const { delta_pages: pages, delta_bytes: bytes } of infos) {
          expect(bytes).toBe(pages * 4_096);
          // A step's own pages, of the 131,072 that the machine has.
          expect(pages).toBeGreaterThan(5);
          expect(pages).toBeLessThan(2_000);
        }
        // 300,000 bytes were written in the second step.
        expect(infos[2]?.delta_pages).toBeGreaterThan(73);
        tellings.push(infos);
      }
      expect(tellings[1]).toEqual(tellings[0]);
      toldBefore ??= tellings[0];
      expect(tellings[0]).toEqual(toldBefore);
    });

    it("keeps the contract of an environment, the way back included", async () => {
      const report = await checkEnv(() => made(), { steps: script.slice(0, 2) });
      expect(report.problems).toEqual([]);
      const plain = await checkEnv(() => made({}), { steps: script.slice(0, 2) });
      expect(report.rules).toBeGreaterThan(plain.rules);
    });

    it("does the same as one that keeps none", async () => {
      const [keeping, plain] = [await made(), await made({})];
      for (const session of [keeping, plain]) await session.reset({ seed, params });
      for (const actions of script) {
        const { info, ...rest } = alike(await keeping.step(actions));
        const { checkpoint, ...others } = info as Record<string, unknown>;
        expect(checkpoint).toBeDefined();
        expect(alike(await plain.step(actions))).toEqual({ ...rest, info: others });
      }
      expect(await digestOf(keeping)).toBe(await digestOf(plain));
    });

    it("is forked at a step: its milestones, step count, guest time and shell, and then its own way", async () => {
      const session = await made();
      await session.reset({ seed, params });
      const told: StepResult[] = [];
      for (const actions of script.slice(0, 4)) told.push(await session.step(actions));
      // After step 1 `one` was there, and `two` was not; after step 3 both.
      for (const [atStep, held, text] of [
        [1, ["given", "one"], "1\ngiven\none\ntimes"],
        [3, ["given", "one", "two"], "1\n2\nbig\ngiven\none\ntimes\ntwo"],
      ] as const) {
        const branch = await forked(session, atStep);
        expect(await branch.observe()).toMatchObject(told[atStep - 1]?.observation ?? {});
        const before = told[atStep - 1]?.info ?? {};
        const next = await branch.step([sh("cat one; cat two 2>/dev/null; ls")]);
        expect(next.info["step"]).toBe(atStep + 1);
        expect(new Set(next.info["held"] as string[])).toEqual(new Set(held));
        const passed = (next.info["guest_ms"] as number) - (before["guest_ms"] as number);
        expect(passed).toBeGreaterThan(0);
        expect(passed).toBeLessThan(1_000);
        expect(next.observation.results[0]?.text).toBe(text);
        const verdict = await branch.evaluate();
        expect(verdict.checks.find(({ id }) => id === "two")?.status).toBe(
          atStep === 1 ? "failed" : "passed",
        );
      }
      // The session itself has not noticed.
      expect((await session.step([sh("ls")])).info["step"]).toBe(5);
    });

    it("gives branches of one step random numbers of their own, and the same ones in a second run", async () => {
      const runs: string[][] = [];
      for (const _ of [1, 2]) {
        const session = await made();
        await session.reset({ seed, params });
        await session.step(script[0] ?? []);
        await session.step(script[1] ?? []);
        const texts: string[] = [];
        for (const atStep of [1, 1, 0]) {
          const branch = await forked(session, atStep);
          const { observation } = await branch.step([sh("cat /proc/sys/kernel/random/uuid")]);
          texts.push(observation.results[0]?.text ?? "");
        }
        expect(new Set(texts).size).toBe(3);
        runs.push(texts);
      }
      expect(runs[1]).toEqual(runs[0]);
    });

    it("lets a branch be forked at its own steps, also after its parent is closed", async () => {
      const session = await made();
      await session.reset({ seed, params });
      for (const actions of script.slice(0, 3)) await session.step(actions);
      const branch = await forked(session, 1);
      await branch.step([sh("echo branch > who")]);
      await branch.step([sh("rm who")]);
      await session.close();
      const nested = await forked(branch, 2);
      expect((await nested.step([sh("cat who")])).observation.results[0]?.text).toBe("branch");
      const start = await forked(branch, 1);
      expect((await start.step([sh("ls")])).observation.results[0]?.text).toBe("given\none\ntimes");
      await expect(branch.fork({ atStep: 0 })).rejects.toMatchObject({
        code: "checkpoint_missing",
        message: "no checkpoint of step 0 is kept; kept: 1 to 3",
      });
    });

    it("has kept the very bytes: a grade fork at a step has the digest that the step told", async () => {
      const session = await made();
      await session.reset({ seed, params });
      const digests: string[] = [];
      const machine = microvm(session.episode().machine);
      for (const actions of script) digests.push(checkpointOf((await session.step(actions)).info).digest);
      for (const atStep of [0, 2, 4]) {
        const again = await machine.native.forkAt({ step: atStep }, { kind: "grade" });
        const { checkpoints } = machine.native.checkpoints();
        expect(await again.digest()).toBe(checkpoints.find(({ step }) => step === atStep)?.digest);
        await again.close();
      }
      expect(
        machine
          .checkpoints()
          .checkpoints.map(({ digest }) => digest)
          .slice(1),
      ).toEqual(digests);
    });

    it("keeps within its budget, and names the steps that are kept when it refuses one that is not", async () => {
      const session = await made({ checkpoints: { budgetMiB: 2 } }, { limits: { steps: 50 } });
      await session.reset({ seed, params });
      const machine = microvm(session.episode().machine);
      for (let step = 1; step <= 12; step += 1) {
        await session.step([sh(`head -c 200000 /dev/urandom > ${step}`)]);
        expect(machine.checkpoints().heldBytes).toBeLessThanOrEqual(2 * 1024 * 1024);
      }
      const { checkpoints, taken, dropped } = machine.checkpoints();
      expect(taken).toBe(13);
      expect(dropped).toBeGreaterThan(0);
      const first = checkpoints[0]?.step ?? 0;
      expect(first).toBe(dropped);
      await expect(session.fork({ atStep: 0 })).rejects.toMatchObject({
        code: "checkpoint_missing",
        path: "at_step",
        message: `no checkpoint of step 0 is kept; kept: ${first} to 12`,
      });
      const branch = await forked(session, first);
      expect((await branch.step([sh("ls")])).info["step"]).toBe(first + 1);
    });

    it("over a thousand steps never holds more than its budget, and goes back to each that it kept", async () => {
      const steps = 1_000;
      const budget = 2 * MiB;
      const whole = new TaskEnvironmentFactory({ provider: provider(), tasks: [] });
      const session = ofSession(
        await whole.createSandbox(TEST_IMAGE, { checkpoints: { budgetMiB: budget / MiB } }),
      );
      open.push(session);
      const path = "/home/agent/step";
      const digests = [checkpointOf((await session.reset({ seed })).info).digest];
      let most = 0;
      for (let step = 1; step <= steps; step += 1) {
        const { info } = await session.step([{ type: "write_file", path, content: `${step}\n` }]);
        digests.push(checkpointOf(info).digest);
        most = Math.max(most, (await session.checkpoints()).held_bytes);
      }
      expect(new Set(digests).size).toBe(steps + 1);
      expect(most).toBeLessThanOrEqual(budget);
      expect(most).toBeGreaterThan(budget / 2);
      const { checkpoints, taken, dropped } = await session.checkpoints();
      const first = checkpoints[0]?.step ?? 0;
      // The oldest went, one after the other, and only they.
      expect(checkpoints.map(({ step, digest }) => [step, digest])).toEqual(
        digests.map((digest, step) => [step, digest]).slice(first),
      );
      expect({ taken, dropped }).toEqual({ taken: steps + 1, dropped: first });
      expect(first).toBeGreaterThan(steps / 2);
      for (const atStep of [first, Math.floor((first + steps) / 2), steps]) {
        const machine = microvm(session.episode().machine);
        const again = await machine.native.forkAt({ step: atStep }, { kind: "grade" });
        expect(await again.digest()).toBe(digests[atStep]);
        await again.close();
        const branch = await forked(session, atStep);
        const { observation } = await branch.step([{ type: "exec", argv: ["cat", path] }]);
        expect(observation.results[0]?.text).toBe(`${atStep}`);
      }
      for (const atStep of [0, first - 1]) {
        await expect(session.fork({ atStep })).rejects.toMatchObject({
          code: "checkpoint_missing",
          message: `no checkpoint of step ${atStep} is kept; kept: ${first} to ${steps}`,
        });
      }
      whole.close();
    });

    it("takes the checkpoint of a step that was cancelled and done again from the second time", async () => {
      const session = await made();
      await session.reset({ seed, params });
      await session.step([sh("echo 1 > one")]);
      const running = session.step([sh("echo no > two; while :; do :; done")]);
      const rejected = expect(running).rejects.toMatchObject({ code: "cancelled" });
      setTimeout(() => session.cancel(), 300);
      await rejected;
      await expect(session.fork({ atStep: 2 })).rejects.toMatchObject({
        message: "no checkpoint of step 2 is kept; kept: 0 to 1",
      });
      const again = await session.step([sh("echo 2 > two")]);
      expect(checkpointOf(again.info)).toMatchObject({ step: 2, digest: await digestOf(session) });
      const branch = await forked(session, 2);
      expect((await branch.step([sh("cat two")])).observation.results[0]?.text).toBe("2");
      const before = await forked(session, 1);
      expect((await before.step([sh("ls")])).observation.results[0]?.text).not.toContain("two");
    });

    it("is over in a branch at its last step, and not in one before", async () => {
      const session = await made();
      await session.reset({ seed, params });
      await session.step([sh("echo 1 > one")]);
      await session.step([{ type: "done", answer: "yes" }]);
      await expect((await forked(session, 2)).step([sh("ls")])).rejects.toMatchObject({
        code: "episode_over",
      });
      const branch = await forked(session, 1);
      expect(await branch.step([{ type: "done", answer: "no" }])).toMatchObject({ terminated: true });
    });

    it("leaves no page behind, in whatever order sessions and branches are closed", async () => {
      const live = async () => {
        while (loadAddon().engineStats().inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
        const { livePages, checkpoints } = loadAddon().engineStats();
        return { livePages, kept: checkpoints.kept, heldBytes: checkpoints.heldBytes };
      };
      let before = { livePages: 0, kept: 0, heldBytes: 0 };
      for (const [round, order] of [
        // Not compared: the first to come makes the golden, and a cold one's pages are filled when they are touched.
        [0, 1, 2],
        [0, 1, 2],
        [2, 1, 0],
        [1, 0, 2],
      ].entries()) {
        const session = await made();
        await session.reset({ seed, params });
        for (const actions of script.slice(0, 2)) await session.step(actions);
        const branch = await forked(session, 1);
        await branch.step([sh("echo 3 > three")]);
        const nested = await forked(branch, 2);
        await nested.step([sh("echo 4 > four")]);
        const held = await live();
        expect(held.kept).toBe(3 + 2 + 2);
        expect(held.heldBytes).toBeGreaterThan(0);
        const all = [session, branch, nested];
        for (const at of order) await all[at]?.close();
        if (round === 0) before = await live();
        else expect(await live()).toEqual(before);
      }
    });
  },
);

describeOnHost("a session on machines that keep no checkpoints", () => {
  const open = openWorlds();

  it("refuses the reset if it is to keep some, and frees the machine", async () => {
    const { goldens, provider } = open();
    const session = new Session(new TaskScenario(makeTask(document), goldens), { checkpoints: {} });
    await expect(session.reset({ seed, params })).rejects.toMatchObject({ code: "host_unsupported" });
    expect(provider.openMachines()).toBe(0);
    await session.close();
  });
});

describe.skipIf(unavailable !== null)(
  "a session that keeps checkpoints, on a host that becomes full,",
  () => {
    const host = { usedMiB: 100 };
    const provider = providerForFile({
      memoryBounds: () => [
        { name: "the host's memory", totalBytes: 1000 * MiB, availableBytes: (1000 - host.usedMiB) * MiB },
      ],
    });

    it("stands by a step that there is no memory to keep, and says so", async () => {
      const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [] });
      const session = await factory.createSandbox(TEST_IMAGE, keep);
      const events: EnvironmentEvent[] = [];
      session.onEvent((event) => events.push(event));
      await session.reset({ seed });
      await session.step([sh("echo 1 > one")]);
      host.usedMiB = 990;
      // Until the host is looked at again.
      await new Promise((resolve) => setTimeout(resolve, 60));
      const { observation, info } = await session.step([sh("echo 2 > two; cat two")]);
      expect(observation.results[0]?.text).toBe("2");
      expect(info).toMatchObject({ step: 2 });
      expect(info).not.toHaveProperty("checkpoint");
      expect(events).toEqual([
        {
          event: "infra",
          code: "out_of_memory",
          message: expect.stringContaining("one more checkpoint") as string,
        },
      ]);
      host.usedMiB = 100;
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(checkpointOf((await session.step([sh("ls")])).info).step).toBe(3);
      await expect(session.fork({ atStep: 2 })).rejects.toMatchObject({
        message: "no checkpoint of step 2 is kept; kept: 0 to 1, 3",
      });
      await session.close();
      factory.close();
    });
  },
);

describe.skipIf(unavailable !== null)("a session that keeps no checkpoints", () => {
  const provider = providerForFile();

  it("says how to have them, and tells of none", async () => {
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(document)] });
    const session = await factory.create("two-files");
    const events: EnvironmentEvent[] = [];
    session.onEvent((event) => events.push(event));
    const { info } = await session.reset({ seed, params });
    expect(info).not.toHaveProperty("checkpoint");
    expect((await session.step([sh("ls")])).info).not.toHaveProperty("checkpoint");
    await expect(session.fork({ atStep: 1 })).rejects.toMatchObject({
      code: "checkpoint_missing",
      suggestion: "create the session with checkpoints",
    });
    expect(events).toEqual([]);
    await session.close();
    factory.close();
  });
});
