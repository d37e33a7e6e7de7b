/** Rollouts of real machines, recorded, through the TypeScript client. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect, type EpisodeNotice, type ShinkenClient } from "../../../src/client/index.js";
import { makeTask } from "../../../src/env/task/index.js";
import { bundleEnding, bundleFiles, readBundle } from "../../../src/replay/index.js";
import { BranchingFactory } from "../../../src/rollout/replays/index.js";
import type { RunningServer } from "../../../src/server/index.js";
import { closePool } from "../../../src/verifiers/index.js";
import { document } from "../../env/session-support.js";
import { folderForFile, type Studio, studio } from "../../rollout/replays/support.js";
import { machinesUnavailable, providerForFile } from "../../support/machine.js";
import { start, stopAll, until } from "../../support/wire-server.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
const folder = folderForFile();
const exec = (command: string) => ({ type: "exec", command });

describe.skipIf(unavailable !== null)("a rollout of real machines", () => {
  let stage: Studio;
  let server: RunningServer;
  let client: ShinkenClient;

  beforeAll(() => {
    const tasks = [makeTask(document), makeTask({ ...document, id: "exam", use: "eval" })];
    stage = studio(provider(), tasks, folder);
  });
  afterEach(async () => {
    await client.close();
    await stopAll();
    expect(provider().openMachines()).toBe(0);
  });
  afterAll(async () => {
    await stage.close();
    await closePool();
  });

  const serve = async () => {
    server = await start({
      factory: new BranchingFactory(stage.factory, folder, stage.opener),
      machines: () => provider().openMachines(),
      limits: { graceSeconds: 0.3 },
    });
    client = await connect(server.url);
  };

  it("plays groups of one variant by several workers, grades them, and records them with their labels", async () => {
    await serve();
    const rollout = client.rollout({
      ...{ tasks: ["two-files"], group: 3, groups: 2, seed: 4 },
      ...{ warm: { min: 2, max: 4 }, labels: { trainer: "t1" } },
    });
    const results: EpisodeNotice[] = [];
    rollout.onResult((result) => results.push(result));
    const seen: { group: string; params: unknown; variant: unknown; episode: string | null }[] = [];
    const worker = async () => {
      for await (const episode of rollout) {
        const { group, params, replica } = episode;
        seen.push({ group, params, variant: episode.first.info["variant"], episode: episode.episode });
        // One of three does nothing of use.
        await episode.step([exec(replica === 2 ? "true" : "echo 1 > one; echo 2 > two"), { type: "done" }]);
        await episode.close();
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    await rollout.close();
    expect(provider().openMachines()).toBe(0);
    for (const group of ["g1", "g2"]) {
      const members = seen.filter((one) => one.group === group);
      expect(members).toHaveLength(3);
      expect(new Set(members.map(({ variant }) => variant)).size).toBe(1);
      expect(new Set(members.map(({ params }) => JSON.stringify(params))).size).toBe(1);
    }
    const scores = results.filter(({ group }) => group === "g2").sort((a, b) => a.replica - b.replica);
    expect(scores.map(({ verdict, status }) => [status, verdict?.passed])).toEqual([
      ["graded", true],
      ["graded", true],
      ["graded", false],
    ]);
    expect(results.map(({ episode }) => episode).sort()).toEqual(seen.map(({ episode }) => episode).sort());
    const files = await bundleFiles([folder]);
    const ours = results.find(({ group, replica }) => group === "g1" && replica === 1);
    const file = files.find((one) => one.endsWith(`${ours?.episode}${bundleEnding}`)) ?? "";
    const { session } = await readBundle(file, { folder });
    expect(session.labels).toEqual({
      ...{ trainer: "t1", rollout: rollout.name, group: "g1", replica: 1, attempt: 1 },
    });
    expect(session.seed).toBe(ours?.seed);
  });

  it("leaves no machines of what nobody played, and bundles of its reset alone", async () => {
    await serve();
    const before = await bundleFiles([folder]);
    const rollout = await client.rollout({ tasks: ["two-files"], warm: { min: 3, max: 3 } }).open();
    await until(() => provider().openMachines() === 3);
    await rollout.close();
    expect(provider().openMachines()).toBe(0);
    const made = (await bundleFiles([folder])).filter((file) => !before.includes(file));
    const bundles = await Promise.all(made.map((file) => readBundle(file, { folder })));
    expect(bundles.map(({ steps, end }) => [steps.length, end.finished])).toEqual(Array(3).fill([0, true]));
  });

  it("trains on no task that is for measuring only, unless it says that it measures", async () => {
    await serve();
    await expect(client.rollout({ tasks: ["two-files", "exam"] }).open()).rejects.toMatchObject({
      code: "eval_only",
      path: "tasks[1]",
    });
    const training = await client.rollout({ tasks: "all" }).open();
    expect([training.tasks, training.leftOut]).toEqual([["two-files"], ["exam"]]);
    await training.close();
    const measuring = await client.rollout({ tasks: "all", purpose: "eval" }).open();
    expect(measuring.tasks).toEqual(["two-files", "exam"]);
    await measuring.close();
  });

  it("gives the episodes of a client that vanished to another, and frees its machines", async () => {
    await serve();
    const rollout = client.rollout({ tasks: ["two-files"], groups: 1, warm: { min: 0, max: 0 } });
    const mine = await rollout.open();
    const other = await connect(server.url, { reconnect: false });
    const worker = await other.joinRollout(mine.name, mine.token);
    const lost = await worker.next();
    await lost?.step([exec("echo 1 > one")]);
    other.breakConnection();
    const again = await rollout.next();
    expect([again?.seed, again?.first.info["variant"]]).toEqual([lost?.seed, lost?.first.info["variant"]]);
    const { observation } = await (again?.step([exec("ls")]) ?? Promise.reject(new Error("no episode")));
    expect(observation.results[0]?.text).not.toMatch(/\bone\b/);
    expect(provider().openMachines()).toBe(1);
    await again?.close();
    expect((await rollout.stats()).episodes).toMatchObject({ graded: 1, again: { returned: 1 } });
    await rollout.close();
  });

  it("goes on over a connection that broke, with what was told meanwhile", async () => {
    await serve();
    const rollout = client.rollout({ tasks: ["two-files"], groups: 2, warm: { min: 1, max: 2 } });
    const results: EpisodeNotice[] = [];
    rollout.onResult((result) => results.push(result));
    const one = await rollout.next();
    await one?.step([exec("echo 1 > one; echo 2 > two")]);
    client.breakConnection();
    await one?.close();
    const two = await rollout.next();
    client.breakConnection();
    await two?.step([{ type: "done" }]);
    await two?.close();
    expect(await rollout.next()).toBeNull();
    expect(results.map(({ group, verdict }) => [group, verdict?.score])).toEqual([
      ["g1", 1],
      // What holds from the start.
      ["g2", 0.25],
    ]);
    await rollout.close();
  });
});
