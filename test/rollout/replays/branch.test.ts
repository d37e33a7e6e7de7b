import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeTask } from "../../../src/env/task/index.js";
import { nullOperator, type Operator, oracleOperator } from "../../../src/operator/index.js";
import { type Bundle, readBundle } from "../../../src/replay/index.js";
import { branchBundle, BranchingFactory, playerFrom, rerun } from "../../../src/rollout/replays/index.js";
import { closePool } from "../../../src/verifiers/index.js";
import { document } from "../../env/session-support.js";
import { machinesUnavailable, providerForFile } from "../../support/machine.js";
import { bundleOf, folderForFile, forged, recorded, type Studio, studio } from "./support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
const folder = folderForFile();
const exec = (command: string) => ({ type: "exec", command });

const oracle = [exec("echo 1 > one"), exec("head -c 8 /dev/urandom > noise"), exec("echo 2 > two")];
const task = makeTask({ ...document, oracle });

describe.skipIf(unavailable !== null)("a branch of a recorded episode", () => {
  let stage: Studio;
  let whole: Bundle;
  let factory: BranchingFactory;
  beforeAll(async () => {
    stage = studio(provider(), [task], folder);
    factory = new BranchingFactory(stage.factory, folder, stage.opener);
    whole = await recorded(stage, "two-files", [...oracle, { type: "done" }], { seed: 5 });
  });
  afterAll(async () => {
    await stage.close();
    await closePool();
  });

  const from = (step: number) => ({ bundle: whole.session.episode, step });

  it("goes on from the machine, the milestones and the step number of its step", async () => {
    const branch = await factory.branch(from(1));
    const { observation, info, reward } = await branch.step([exec("cat one; echo 2 > two")]);
    expect(observation.results[0]).toMatchObject({ stdout: "1\n" });
    expect(info).toMatchObject({ step: 2, earned: ["two"], held: ["given", "one", "two"] });
    expect(reward).toBe(1);
    expect(await branch.evaluate()).toMatchObject({ score: 1 });
    await branch.close();
  });

  it("has a bundle of its own that names its parent and repeats itself to the bit, as one of it does", async () => {
    const branch = await factory.branch(from(2), { labels: { operator: "me" } });
    await branch.step([exec("head -c 8 /dev/urandom | od -x; ls noise")]);
    const { episode, file } = bundleOf(branch);
    await branch.close();
    const bundle = await readBundle(join(folder, file));
    expect(bundle.session).toMatchObject({
      parent: { episode: whole.session.episode, step: 2, effects: "refuse" },
      labels: { operator: "me" },
      fork: { kind: "branch" },
    });
    expect(join(folder, bundle.session.parent?.file ?? "")).toBe(whole.file);
    const twig = await factory.branch({ bundle: episode, step: 3 });
    await twig.step([exec("true")]);
    const twigs = bundleOf(twig).file;
    await twig.close();
    for (const one of [file, twigs]) {
      const { session, steps, difference } = await rerun(await readBundle(join(folder, one)), {
        open: stage.opener.open,
      });
      await session.close();
      expect({ steps, difference }).toEqual({ steps: 1, difference: null });
    }
  });

  it("is of a session that is still at work, too, and keeps checkpoints if it is asked to", async () => {
    const session = await stage.factory.create("two-files");
    await session.reset();
    await session.step([oracle[0]]);
    await session.step([oracle[1]]);
    const { episode } = bundleOf(session);
    const branch = await factory.branch({ bundle: episode, step: 1 }, { checkpoints: {} });
    await session.close();
    await branch.step([exec("true")]);
    const { checkpoints } = (await branch.checkpoints?.()) ?? {};
    expect(checkpoints?.map(({ step }) => step)).toEqual([1, 2]);
    await branch.close();
  });

  it("is not recorded where that is not wanted", async () => {
    const branch = await factory.branch(from(0), { record: false });
    expect(branch.bundle).toBeUndefined();
    await branch.close();
  });

  it("is refused with the field that is wrong", async () => {
    await expect(factory.branch(from(5))).rejects.toMatchObject({ code: "bad_request", path: "from.step" });
    await expect(factory.branch(from(4))).rejects.toMatchObject({ code: "episode_over", path: "from.step" });
    await expect(factory.branch({ ...from(1), effects: "mock" })).rejects.toMatchObject({
      code: "bad_request",
      path: "from.effects",
    });
    await expect(factory.branch({ bundle: "nobody", step: 1 })).rejects.toMatchObject({
      code: "bundle_missing",
      path: "from.bundle",
    });
  });

  it("is refused where a state on the way is not as recorded, and not for what comes after", async () => {
    const bundle = await forged(stage, whole, (event) =>
      event.channel === "action" && event["step"] === 2 ? { ...event, action: exec("true") } : event,
    );
    const { open } = stage.opener;
    await expect(branchBundle(bundle, { open, step: 3 })).rejects.toMatchObject({
      code: "not_repeatable",
      path: "state",
    });
    const { session, before } = await branchBundle(bundle, { open, step: 1 });
    expect(before.map(({ step }) => step)).toEqual([1]);
    await session.close();
  });

  describe("whoever goes on", () => {
    const last = { observation: { results: [] }, info: {} };
    const steps = (count: number) => whole.steps.slice(0, count);

    it("goes on with what comes next, having done the same so far", async () => {
      const player = await playerFrom(oracleOperator, task.variant(), whole, steps(2));
      expect(await player.next(last)).toEqual({ actions: [oracle[2]] });
    });

    it("is told what was done and not asked again, if it is no script", async () => {
      const heard: unknown[] = [];
      const curious: Operator = {
        name: "curious",
        play: (_, past = []) => {
          heard.push(...past.flatMap(({ actions }) => actions));
          return { next: () => Promise.reject(new Error("asked")) };
        },
      };
      await playerFrom(curious, task.variant(), whole, steps(2));
      expect(heard).toEqual(oracle.slice(0, 2));
    });

    it("begins anew where something else was done", async () => {
      const other = await forged(stage, whole, (event) =>
        event.channel === "action" && event["step"] === 1 ? { ...event, action: exec("true") } : event,
      );
      const player = await playerFrom(oracleOperator, task.variant(), other, other.steps.slice(0, 2));
      expect(await player.next(last)).toEqual({ actions: [oracle[0]] });
      const idle = await playerFrom(nullOperator, task.variant(), whole, steps(2));
      expect(await idle.next(last)).toBeNull();
    });
  });

  it("leaves no machine open, whatever became of it", () => {
    expect(provider().openMachines()).toBe(0);
  });
});
