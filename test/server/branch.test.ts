import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.js";
import type { ShinkenError } from "../../src/errors/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { BranchingFactory } from "../../src/rollout/replays/index.js";
import type { RunningServer } from "../../src/server/index.js";
import { closePool } from "../../src/verifiers/index.js";
import { document } from "../env/session-support.js";
import { folderForFile, type Studio, studio } from "../rollout/replays/support.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";
import { Peer, start, stopAll } from "../support/wire-server.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
const folder = folderForFile();
const exec = (command: string) => ({ type: "exec", command });

describe("create with from", () => {
  afterEach(stopAll);

  it("is refused by a server that keeps no bundles", async () => {
    const peer = await Peer.connect(await start());
    const bundle = "7c0dd2c6-3b4f-4c59-9d6e-0f6a4b0b7d11";
    expect(await peer.ask({ op: "create", from: { bundle, step: 1 } })).toMatchObject({
      ok: false,
      error: { code: "bad_request", path: "from" },
    });
    expect(await peer.ask({ op: "create", from: { bundle, step: 1 }, task: "t" })).toMatchObject({
      error: { code: "bad_request", path: "task" },
    });
    for (const wrong of [
      { bundle: "../../etc/passwd", step: 1 },
      { bundle, step: -1 },
      { bundle, at: 1 },
    ])
      expect((await peer.ask({ op: "create", from: wrong })).error).toMatchObject({ code: "bad_request" });
  });

  describe.skipIf(unavailable !== null)("on a server that records", () => {
    let stage: Studio;
    let server: RunningServer;
    const serve = async () => {
      server = await start({ factory: new BranchingFactory(stage.factory, folder, stage.opener) });
      return connect(server.url);
    };
    beforeAll(() => {
      stage = studio(provider(), [makeTask(document)], folder);
    });
    afterAll(async () => {
      await stage.close();
      await closePool();
    });

    it("gives a session that goes on from the step, under its number, and that can be branched in turn", async () => {
      const client = await serve();
      const session = await client.create({ task: "two-files" });
      expect(session.episode).toBeNull();
      await session.reset({ seed: 1 });
      await session.step([exec("echo 1 > one")]);
      await session.step([exec("rm one")]);
      const bundle = session.episode ?? "";
      await session.close();

      const branch = await client.create({ from: { bundle, step: 1 }, session: "again", labels: { k: 1 } });
      expect(branch).toMatchObject({ name: "again", task: "two-files", next: 2 });
      expect(branch.episode).not.toBe(bundle);
      const { info, reward } = await branch.step([exec("cat one; echo 2 > two")]);
      expect(info).toMatchObject({ step: 2, held: ["given", "one", "two"] });
      expect(reward).toBe(1);
      expect(await branch.evaluate()).toMatchObject({ status: "graded", score: 1 });

      const fork = await branch.fork();
      expect(fork.episode).not.toBe(branch.episode);
      const twig = await client.create({ from: { bundle: fork.episode ?? "", step: 2 } });
      expect((await twig.step([exec("cat one two")])).observation.results[0]).toMatchObject({
        stdout: "1\n2\n",
      });
      const attached = await client.attach(twig.name, twig.token);
      expect(attached).toMatchObject({ next: 4, episode: twig.episode });
      expect(await twig.reset({ seed: 2 })).toMatchObject({ info: { seed: 2 } });
      for (const one of [branch, fork, twig]) await one.close();
      await client.close();
    });

    it("says what is wrong with a request, and leaves no session behind", async () => {
      const client = await serve();
      const session = await client.create({ task: "two-files" });
      await session.reset({ seed: 1 });
      const bundle = session.episode ?? "";
      await session.close();
      const refusal = (from: object) =>
        client.call({ op: "create", from }).then(
          () => null,
          (error: unknown) => {
            const { code, path } = error as ShinkenError;
            return { code, path };
          },
        );
      const unknown = "7c0dd2c6-3b4f-4c59-9d6e-0f6a4b0b7d11";
      expect(await refusal({ bundle: unknown, step: 0 })).toEqual({
        code: "bundle_missing",
        path: "from.bundle",
      });
      expect(await refusal({ bundle, step: 1 })).toEqual({ code: "bad_request", path: "from.step" });
      expect(await refusal({ bundle, step: 0, effects: "mock" })).toEqual({
        code: "bad_request",
        path: "from.effects",
      });
      expect(await client.list()).toEqual([]);
      expect(server.counts().sessions).toBe(0);
      expect(provider().openMachines()).toBe(0);
      await client.close();
    });
  });
});
