import { join } from "node:path";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Environment } from "../../../src/env/environment.js";
import { makeTask } from "../../../src/env/task/index.js";
import { type Bundle, readBundle } from "../../../src/replay/index.js";
import {
  rerun,
  type Rerun,
  type RerunOptions,
  sessionOpener,
  verifyBundles,
} from "../../../src/rollout/replays/index.js";
import { closePool } from "../../../src/verifiers/index.js";
import { document } from "../../env/session-support.js";
import { machinesUnavailable, providerForFile } from "../../support/machine.js";
import { bundleOf, folderForFile, forged, recorded, type Studio, studio } from "./support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
const folder = folderForFile();
const exec = (command: string) => ({ type: "exec", command });

const task = makeTask(document);
const served = makeTask({
  id: "ask-a-service",
  version: "1.0.0",
  instruction: "Ask http://files:8000/.",
  memory_mib: 128,
  services: [
    {
      name: "files",
      memory_mib: 128,
      setup: [
        { write: { path: "/srv/report.txt", text: "42\n", owner: "root" } },
        { launch: { argv: ["sh", "-c", "cd /srv && exec python3 -m http.server 8000"], user: "root" } },
      ],
      ready: [{ port: 8000 }],
    },
  ],
  verify: {
    graph: {
      all: [
        {
          id: "asked",
          channel: "fs",
          query: { kind: "text", path: "/home/agent/report.txt" },
          assert: { type: "text", equals: "42\n" },
        },
      ],
    },
  },
  oracle: [exec("curl -s http://files:8000/report.txt > report.txt")],
});

/** Random numbers and the clock make every machine's steps its own. */
/** The state after the latest answer is recorded: the next step begins at once, and a cancel meets it in its middle. */
async function settled(session: Environment): Promise<void> {
  await session.evaluate();
}

const actions = [
  exec("head -c 8 /dev/urandom | od -An -tx1 | tee noise; date +%s.%N | tee when"),
  exec("echo 1 > one"),
  exec("cat noise when; echo 2 > two"),
];

describe.skipIf(unavailable !== null)("a recorded episode that is run again", () => {
  let stage: Studio;
  let whole: Bundle;
  beforeAll(async () => {
    stage = studio(provider(), [task, served], folder);
    whole = await recorded(stage, "two-files", actions, { seed: 5 });
  });
  afterAll(async () => {
    await stage.close();
    await closePool();
  });

  const again = async (bundle: Bundle, options: Partial<RerunOptions> = {}): Promise<Rerun> => {
    const result = await rerun(bundle, { open: stage.opener.open, ...options });
    await result.session.close();
    return result;
  };
  const difference = async (bundle: Bundle) => (await again(bundle)).difference;

  it("is the same to the bit, step by step", async () => {
    const told: number[][] = [];
    const { difference, steps } = await again(whole, { onStep: (...of) => told.push(of) });
    expect(difference).toBeNull();
    expect(steps).toBe(3);
    expect(told).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  it("is the same where nobody seeded it: random numbers and clock come from the recording", async () => {
    const bundle = await recorded(stage, "two-files", actions);
    expect(bundle.session.seed).toBeNull();
    expect(bundle.session.fork?.clock?.seconds).toBeGreaterThan(0);
    expect(await difference(bundle)).toBeNull();
  });

  it("is the same as the second of its session, with a seed and without", async () => {
    for (const options of [{ seed: 6 }, {}]) {
      const session = await stage.factory.create("two-files");
      await session.reset(options);
      await session.step([exec("true")]);
      await session.reset();
      const { file } = bundleOf(session);
      await session.step([actions[0]]);
      await session.close();
      expect(await difference(await readBundle(join(folder, file)))).toBeNull();
    }
  });

  it("is the same on a plain sandbox", async () => {
    const session = await stage.factory.createSandbox("shell");
    await session.reset({ seed: 1 });
    const { file } = bundleOf(session);
    await session.step([actions[0]]);
    await session.close();
    expect(await difference(await readBundle(join(folder, file)))).toBeNull();
  });

  it("is the same with services beside it, and as a branch of them", async () => {
    for (const options of [{ seed: 2 }, {}]) {
      const session = await stage.factory.create("ask-a-service");
      await session.reset(options);
      const asking = exec(
        "curl -s --max-time 20 http://files:8000/report.txt; head -c 8 /dev/urandom | od -x",
      );
      await session.step([asking]);
      const branch = await session.fork();
      const files = [session, branch].map((one) => bundleOf(one).file);
      await session.step([asking]);
      await branch.step([asking]);
      await session.close();
      await branch.close();
      for (const file of files) {
        const bundle = await readBundle(join(folder, file));
        expect(bundle.steps.at(-1)?.observation?.observation.results[0]).toMatchObject({ exit_code: 0 });
        expect(await difference(bundle)).toBeNull();
      }
    }
  });

  it("is left after the step that was asked for, and goes on from there as it did then", async () => {
    const { session, steps } = await rerun(whole, { open: stage.opener.open, until: 2 });
    expect(steps).toBe(2);
    const step = await session.step([actions[2]]);
    expect(step.observation).toEqual(whole.steps[2]?.observation?.observation);
    expect((await session.state()).digest).toBe(whole.steps[2]?.snapshot?.digest);
    await session.close();
    await expect(again(whole, { until: 4 })).rejects.toMatchObject({ code: "bad_request", path: "step" });
  });

  it("needs only its steps that were done: refused and last unanswered ones are left out", async () => {
    const session = await stage.factory.create("two-files");
    await session.reset({ seed: 9 });
    const { file } = bundleOf(session);
    await session.step([actions[0]]);
    await expect(session.step([{ type: "nonsense" }])).rejects.toMatchObject({ code: "bad_action" });
    await session.step([actions[1]]);
    await settled(session);
    const late = session.step([exec("sleep 1000")]);
    late.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    session.cancel();
    await expect(late).rejects.toMatchObject({ code: "cancelled" });
    await session.close();
    const { steps, difference } = await again(await readBundle(join(folder, file)));
    expect(steps).toBe(2);
    expect(difference).toBeNull();
  });

  describe("as a branch", () => {
    it.each([false, true])(
      "is the same, also of a branch, and of a step before the present one (checkpoints: %s)",
      async (kept) => {
        for (const options of [{ seed: 3 }, {}]) {
          const session = await stage.factory.create("two-files", kept ? { checkpoints: {} } : {});
          await session.reset(options);
          await session.step([actions[0]]);
          if (kept) await session.step([exec("echo the branch does not see this > unseen")]);
          const branch = await session.fork(kept ? { atStep: 1 } : {});
          await session.step([exec("echo parent")]);
          await branch.step([actions[0]]);
          const twig = await branch.fork();
          const files = [session, branch, twig].map((one) => bundleOf(one).file);
          await branch.close();
          await session.close();
          await twig.step([actions[0]]);
          await twig.close();
          for (const file of files) {
            const bundle = await readBundle(join(folder, file));
            expect(await difference(bundle)).toBeNull();
          }
          const twigs = await readBundle(join(folder, files[2] as string));
          expect((await again(twigs)).steps).toBe(1);
          expect(twigs.session.parent).toMatchObject({ step: 2 });
        }
      },
    );

    it("cannot be where it was branched after a step that was cancelled", async () => {
      const session = await stage.factory.create("two-files");
      await session.reset({ seed: 4 });
      await settled(session);
      const late = session.step([exec("sleep 1000")]);
      setImmediate(() => {
        session.cancel();
      });
      await expect(late).rejects.toMatchObject({ code: "cancelled" });
      const branch = await session.fork();
      const { file } = bundleOf(branch);
      await branch.close();
      await session.close();
      await expect(again(await readBundle(join(folder, file)))).rejects.toMatchObject({
        code: "not_repeatable",
        path: "steps",
      });
    });

    it("cannot be without its parent", async () => {
      const session = await stage.factory.create("two-files");
      await session.reset({ seed: 3 });
      const branch = await session.fork();
      const parent = bundleOf(session).file;
      const { file } = bundleOf(branch);
      await branch.close();
      await session.close();
      const bundle = await readBundle(join(folder, file));
      await expect(again(bundle, { until: 1 })).rejects.toMatchObject({ code: "bad_request" });
      const outside = { ...bundle.session.parent, file: "../../elsewhere.skn" };
      const escaping = await forged(stage, bundle, (event) =>
        event.channel === "session" ? { ...event, parent: outside } : event,
      );
      await expect(again(escaping)).rejects.toMatchObject({ code: "not_repeatable", path: "parent" });
      await rm(join(folder, parent));
      await expect(again(bundle)).rejects.toMatchObject({ code: "not_repeatable", path: "parent" });
    });
  });

  describe("names the first difference", () => {
    const told = (change: Parameters<typeof forged>[2]) => forged(stage, whole, change);

    it("of an action that was changed: the state after that step", async () => {
      const bundle = await told((event) =>
        event.channel === "action" && event["step"] === 2
          ? { ...event, action: exec("echo 1 > one; sync") }
          : event,
      );
      const { difference, steps } = await again(bundle);
      expect(steps).toBe(2);
      expect(difference).toMatchObject({ step: 2, what: "state" });
      const digest = whole.steps[1]?.snapshot?.digest.slice(0, 16);
      expect(difference?.detail).toMatch(new RegExp(`^state ${digest} recorded, [0-9a-f]{16} now `));
    });

    it("and registers, devices and pages, where the bundle holds the machine of that step", async () => {
      const keeping = studio(provider(), [task], folder, { states: true });
      try {
        const kept = await recorded(keeping, "two-files", actions, { seed: 5 });
        expect(await difference(kept)).toBeNull();
        const bundle = await forged(keeping, kept, (event) =>
          event.channel === "action" && event["step"] === 3
            ? { ...event, action: exec("echo 3 > two") }
            : event,
        );
        const { step, what, detail } = (await difference(bundle)) ?? {};
        expect({ step, what }).toEqual({ step: 3, what: "state" });
        expect(detail).toMatch(/; registers: .*0x[0-9a-f]+ recorded, 0x[0-9a-f]+ now/);
        expect(detail).toMatch(/; devices: .*; pages of memory: [1-9][0-9]*, the first is \d+/);
      } finally {
        await keeping.close();
      }
    });

    it("of another fork's seed: the state after the reset", async () => {
      const bundle = await told((event) =>
        event.channel === "session"
          ? { ...event, fork: { ...(event["fork"] as object), seed: "00".repeat(32) } }
          : event,
      );
      expect(await again(bundle)).toMatchObject({ steps: 0, difference: { step: 0, what: "state" } });
    });

    it("of another golden, which is named", async () => {
      const bundle = await told((event) => {
        if (event.channel === "session") return { ...event, golden: "00".repeat(32) };
        return event.channel === "snapshot" ? { ...event, digest: "11".repeat(16) } : event;
      });
      const { difference } = await again(bundle);
      expect(difference).toMatchObject({ step: 0, what: "state" });
      expect(difference?.detail).toMatch(/; it began with golden 0{16}, which is [0-9a-f]{16} now/);
    });

    it("of another run seed, which only the reset's info tells", async () => {
      const bundle = await told((event) => (event.channel === "session" ? { ...event, seed: 8 } : event));
      expect(await difference(bundle)).toEqual({
        step: 0,
        what: "observation",
        detail: "info.seed: 5 recorded, 8 now",
      });
    });

    it("of another observation, reward or end, with the place", async () => {
      const observed = await told((event) => {
        if (event.channel !== "observation" || event["step"] !== 3) return event;
        const { results } = event["observation"] as { results: object[] };
        return { ...event, observation: { results: [{ ...results[0], exit_code: 1 }] } };
      });
      expect(await difference(observed)).toEqual({
        step: 3,
        what: "observation",
        detail: "observation.results.0.exit_code: 1 recorded, 0 now",
      });
      const paid = await told((event) =>
        event.channel === "reward" && event["step"] === 2 && event["check"] === null
          ? { ...event, reward: 3 }
          : event,
      );
      expect(await difference(paid)).toEqual({
        step: 2,
        what: "reward",
        detail: "reward: 3 recorded, 2 now",
      });
      const milestone = await told((event) =>
        event.channel === "reward" && event["check"] === "two" ? null : event,
      );
      expect(await difference(milestone)).toMatchObject({ step: 3, what: "reward" });
      const ended = await told((event) =>
        event.channel === "observation" && event["step"] === 1 ? { ...event, terminated: true } : event,
      );
      expect(await difference(ended)).toEqual({
        step: 1,
        what: "end",
        detail: "terminated: true recorded, false now",
      });
    });

    it("only in what is to be compared", async () => {
      const bundle = await told((event) => (event.channel === "reward" ? null : event));
      expect(await difference(bundle)).toMatchObject({ step: 2, what: "reward" });
      expect((await again(bundle, { compare: ["state", "observation"] })).difference).toBeNull();
    });
  });

  describe("is refused by name", () => {
    const refusal = (path: string) => ({ code: "not_repeatable", path });
    const facts = (change: Record<string, unknown>) =>
      forged(stage, whole, (event) => (event.channel === "session" ? { ...event, ...change } : event));

    it.each([
      ["machine_abi", { machine_abi: 1 }],
      ["task", { task: "three-files" }],
      ["task_version", { task_version: "0.9.0" }],
      ["variant", { variant: "00" }],
      ["variant", { params: { times: "many" } }],
      ["image", { image: null, fork: null }],
      ["image", { task: "sandbox:nothing" }],
      ["fork.seed", { fork: { kind: "replica", seed: null, clock: null } }],
    ])("for its %s", async (path, change) => {
      await expect(again(await facts(change))).rejects.toMatchObject(refusal(path));
    });

    it("on another image than the recorded one, whatever its name, and tells verify so", async () => {
      expect(whole.session["image_digest"]).toMatch(/^[0-9a-f]{64}$/);
      const bundle = await facts({ image_digest: "0".repeat(64) });
      await expect(again(bundle)).rejects.toMatchObject({
        code: "not_repeatable",
        path: "image_digest",
        message: expect.stringMatching(/image \S+ 0{16}, and [0-9a-f]{16} has that name now/) as string,
      });
      const files = [bundle.file, whole.file];
      const findings = await verifyBundles({ files, open: stage.opener.open, concurrency: 1 });
      expect(findings.map(({ outcome }) => outcome)).toEqual(["other_machine", "equal"]);
    });

    it("for a task that was changed since, unless the state alone is to tell", async () => {
      const changed = makeTask({ ...document, instruction: "Write {{times}} times one and two." });
      const opener = sessionOpener({ provider: provider(), tasks: [changed] });
      await expect(again(whole, { open: opener.open })).rejects.toMatchObject(refusal("variant"));
      opener.close();
      const lenient = sessionOpener({ provider: provider(), tasks: [changed], anyVariant: true });
      const { difference } = await again(whole, { open: lenient.open, compare: ["state"] });
      expect(difference).toBeNull();
      lenient.close();
    });

    it("for a secret among its actions, up to the step that holds it", async () => {
      const session = await stage.factory.create("two-files", { secrets: { values: ["hunter2-hunter2"] } });
      await session.reset({ seed: 4 });
      const { file } = bundleOf(session);
      await session.step([actions[0]]);
      await session.step([exec("echo hunter2-hunter2")]);
      await session.close();
      const bundle = await readBundle(join(folder, file));
      await expect(again(bundle)).rejects.toMatchObject(refusal("actions"));
      expect((await again(bundle, { until: 1 })).difference).toBeNull();
    });

    it("for a secret that a machine told, it is not compared", async () => {
      const session = await stage.factory.create("two-files", { secrets: { values: ["given"] } });
      await session.reset({ seed: 4 });
      const { file } = bundleOf(session);
      await session.step([exec("cat /home/agent/giv*; cat giv*")]);
      await session.close();
      const bundle = await readBundle(join(folder, file));
      expect(bundle.steps[0]?.observation?.redacted).not.toEqual([]);
      expect(await difference(bundle)).toBeNull();
    });

    it("for a step that was cancelled and followed by others", async () => {
      const session = await stage.factory.create("two-files");
      await session.reset({ seed: 4 });
      const { file } = bundleOf(session);
      await session.step([actions[0]]);
      await settled(session);
      const late = session.step([exec("sleep 1000")]);
      late.catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      session.cancel();
      await expect(late).rejects.toMatchObject({ code: "cancelled" });
      await session.step([exec("echo still here")]);
      await session.close();
      const bundle = await readBundle(join(folder, file));
      await expect(again(bundle)).rejects.toMatchObject(refusal("steps"));
      expect((await again(bundle, { until: 1 })).difference).toBeNull();
    });

    it("for states that were not recorded", async () => {
      const bundle = await forged(stage, whole, (event) => (event.channel === "snapshot" ? null : event));
      await expect(again(bundle)).rejects.toMatchObject(refusal("snapshot"));
      const endless = await forged(stage, whole, (event) =>
        event.channel === "snapshot" && event.step === actions.length ? null : event,
      );
      await expect(again(endless)).rejects.toMatchObject(refusal("snapshot"));
      const cut = await forged(stage, endless, (event) =>
        event.channel === "marker" && event.kind === "ended" ? null : event,
      );
      expect(await again(cut)).toMatchObject({ steps: actions.length - 1, difference: null });
      expect((await again(bundle, { compare: ["observation"] })).difference).toBeNull();
    });
  });

  it("leaves no machine open, whatever became of it", () => {
    expect(provider().openMachines()).toBe(0);
  });
});
