import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server/index.js";
import { opened as environments } from "../../support/scripted-environment.js";
import { Peer, start, stopAll, until } from "../../support/wire-server.js";
import { opened, played, pulled, stats, told } from "./support.js";

let before = 0;
beforeEach(() => {
  before = environments.now;
});
afterEach(async () => {
  await stopAll();
  expect(environments.now).toBe(before);
});

const metricsOf = async (server: RunningServer): Promise<string> =>
  (await fetch(server.url.replace("ws:", "http:").replace("/v1", "/metrics"))).text();

describe("pulling from a rollout", () => {
  it.each(["msgpack", "json"] as const)(
    "gives ready episodes, and tells their results, over %s",
    async (encoding) => {
      const peer = await Peer.connect(await start(), encoding);
      const { rollout, seed } = await opened(peer, { group: 2, groups: 1, seed: 7 });
      expect(seed).toBe(7);
      const first = await pulled(peer, rollout);
      expect(first).toMatchObject({
        done: false,
        rollout,
        ...{ group: "g1", replica: 0, attempt: 1, task: "scripted" },
        ...{
          state: "running",
          next: 1,
          params: {},
          observation: { instruction: "Play scripted.", results: [] },
        },
      });
      expect(first.info["seed"]).toBe(first.seed);
      const { session } = first;
      await peer.ask({ op: "step", session, step: 1, actions: [{ type: "echo", text: "once" }] });
      await peer.ask({ op: "step", session, step: 2, actions: [{ type: "done" }] });
      const { verdict } = (await peer.ask({ op: "evaluate", session })).result;
      // It is over and graded: nobody has to close it for that.
      expect(await told(peer, "rollout.result")).toEqual({
        event: "rollout.result",
        rollout,
        number: 1,
        ...{ group: "g1", replica: 0, attempt: 1, task: "scripted", seed: first.seed },
        ...{ status: "graded", verdict, reward: 1, steps: 2, reason: null, session, episode: null },
        progress: { size: 2, ended: 1, graded: 1, passed: 1 },
      });
      await peer.ask({ op: "close", session });
      const second = await pulled(peer, rollout);
      expect(second).toMatchObject({ group: "g1", replica: 1 });
      expect(second.seed).not.toBe(first.seed);
      await played(peer, second);
      expect(await told(peer, "rollout.group")).toMatchObject({
        state: "complete",
        late: [],
        results: [
          { replica: 0, status: "graded", score: 1, reward: 1 },
          { replica: 1, status: "graded", score: 1, reward: 0.5 },
        ],
      });
      expect(await pulled(peer, rollout)).toEqual({ done: true });
      expect((await stats(peer, rollout)).done).toBe(true);
    },
  );

  it("works where there is no machine and no grade", async () => {
    const peer = await Peer.connect(await start());
    const { rollout } = await opened(peer, { environment: "echo", groups: 1 });
    await played(peer, await pulled(peer, rollout));
    expect(await told(peer, "rollout.result")).toMatchObject({ task: "echo", steps: 1 });
  });

  it("gives the same order to the same seed", async () => {
    const peer = await Peer.connect(await start());
    const order = async () => {
      const { rollout } = await opened(peer, { group: 2, groups: 3, seed: 99 });
      const names: unknown[] = [];
      for (let next = await pulled(peer, rollout); !next.done; next = await pulled(peer, rollout)) {
        names.push([next.group, next.replica, next.task, next.seed]);
        await played(peer, next);
      }
      return names;
    };
    const one = await order();
    expect(one).toHaveLength(6);
    expect(await order()).toEqual(one);
  });

  it("grades what its player did not before it is closed, and gives back what nobody played", async () => {
    const peer = await Peer.connect(await start());
    const { rollout } = await opened(peer, { groups: 1 });
    const one = await pulled(peer, rollout);
    await peer.ask({ op: "close", session: one.session });
    expect(await told(peer, "rollout.again")).toMatchObject({ code: "returned", attempt: 1, replica: 0 });
    const two = await pulled(peer, rollout);
    expect([two.seed, two.session === one.session]).toEqual([one.seed, false]);
    await peer.ask({ op: "step", session: two.session, step: 1, actions: [{ type: "echo" }] });
    await peer.ask({ op: "close", session: two.session });
    expect(await told(peer, "rollout.result")).toMatchObject({ status: "graded", steps: 1 });
  });

  it("lets no episode be reset, and goes on with it", async () => {
    const peer = await Peer.connect(await start());
    const { rollout } = await opened(peer);
    const { session } = await pulled(peer, rollout);
    expect((await peer.ask({ op: "reset", session })).error).toMatchObject({
      code: "bad_request",
      path: "op",
    });
    expect((await peer.ask({ op: "step", session, step: 1, actions: [{ type: "echo" }] })).ok).toBe(true);
  });

  it("says that nothing became ready in the time that the pull was to wait", async () => {
    const peer = await Peer.connect(await start());
    const { rollout } = await opened(peer, { weights: { scripted: 0 } });
    const late = await peer.ask({ op: "rollout.next", rollout, wait_s: 0.05 });
    expect(late.error).toMatchObject({ code: "no_episode_ready", retry: true });
    const waiting = peer.send({ op: "rollout.next", rollout });
    await peer.ask({ op: "rollout.weights", rollout, weights: { scripted: 1 } });
    expect((await peer.reply(waiting)).ok).toBe(true);
  });

  it("begins an episode anew whose infrastructure failed, and ends it as failed after so many attempts", async () => {
    const peer = await Peer.connect(await start());
    const { rollout } = await opened(peer, { groups: 1, attempts: 2 });
    for (const attempt of [1, 2]) {
      const { session, replica, attempt: its } = await pulled(peer, rollout);
      expect([replica, its]).toEqual([0, attempt]);
      const failing = [{ type: "throw", code: "machine_died" }];
      const { error } = await peer.ask({ op: "step", session, step: 1, actions: failing });
      expect(error.code).toBe("machine_died");
      expect(await peer.wait((message) => message.event === "closed")).toMatchObject({
        session,
        code: "machine_died",
      });
    }
    expect(await told(peer, "rollout.again")).toMatchObject({ code: "machine_died", attempt: 2 });
    expect(await told(peer, "rollout.result")).toMatchObject({
      ...{ status: "failed", reward: null, verdict: null, attempt: 2 },
      reason: "machine_died: as asked for",
    });
    expect(await pulled(peer, rollout)).toEqual({ done: true });
  });

  it("gives the pull the error of a task that cannot be set up", async () => {
    const peer = await Peer.connect(await start());
    const { error } = await peer.ask({ op: "rollout.open", tasks: ["broken"] });
    expect(error.code).toBe("unknown_task");
  });

  it("counts what waits ready among the server's sessions, and in its metrics", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { rollout } = await opened(peer, { warm: { min: 3, max: 3 } });
    await until(() => environments.now === before + 3);
    expect(server.counts().sessions).toBe(3);
    let text = await metricsOf(server);
    expect(text).toContain("shinken_rollouts 1\n");
    expect(text).toContain('shinken_rollout_episodes{state="warm"} 3\n');
    expect(text).toContain("shinken_sessions 3\n");
    await pulled(peer, rollout);
    text = await metricsOf(server);
    expect(text).toContain('shinken_rollout_episodes{state="playing"} 1\n');
    expect(text).toContain('shinken_rollout_hand_over_seconds_count{ready="yes"} 1\n');
    await peer.ask({ op: "rollout.close", rollout });
    expect(environments.now).toBe(before);
    expect(server.counts().sessions).toBe(0);
    expect(await peer.wait((message) => message.event === "closed")).toMatchObject({ code: "rollout_over" });
    expect(await told(peer, "rollout.closed")).toMatchObject({ rollout, code: "rollout_over" });
    expect((await peer.ask({ op: "rollout.stats", rollout })).error.code).toBe("unknown_rollout");
  });

  it("makes room for a session that is asked for, and is refused where all are played", async () => {
    const server = await start({ limits: { sessions: 3 } });
    const peer = await Peer.connect(server);
    const { rollout } = await opened(peer, { warm: { min: 3, max: 3 } });
    await until(() => environments.now === before + 3);
    expect((await peer.ask({ op: "create", environment: "echo" })).ok).toBe(true);
    expect(server.counts().sessions).toBe(3);
    await pulled(peer, rollout);
    await pulled(peer, rollout);
    const third = await peer.ask({ op: "rollout.next", rollout });
    expect(third.error).toMatchObject({ code: "too_many_sessions", retry: true });
    expect((await peer.ask({ op: "create", environment: "echo" })).error.code).toBe("too_many_sessions");
    expect(server.counts().sessions).toBe(3);
  });

  it("holds to the sessions that a connection may have", async () => {
    const peer = await Peer.connect(await start({ limits: { sessionsPerConnection: 1 } }));
    const { rollout } = await opened(peer);
    await pulled(peer, rollout);
    expect((await peer.ask({ op: "rollout.next", rollout })).error.code).toBe("too_many_sessions");
  });
});

describe("several workers on one rollout", () => {
  it("share its episodes, and whoever opened it is told of all", async () => {
    const server = await start();
    const opener = await Peer.connect(server);
    const { rollout, token } = await opened(opener, { group: 3, groups: 2 });
    const workers = [await Peer.connect(server), await Peer.connect(server, "json")] as const;
    const wrong = await workers[0].ask({ op: "rollout.attach", rollout, token: "guessed" });
    expect(wrong.error.code).toBe("unknown_rollout");
    expect((await workers[0].ask({ op: "rollout.next", rollout })).error.code).toBe("unknown_rollout");
    const seen = await Promise.all(
      workers.map(async (worker) => {
        await worker.ask({ op: "rollout.attach", rollout, token });
        const names: string[] = [];
        for (let next = await pulled(worker, rollout); !next.done; next = await pulled(worker, rollout)) {
          names.push(`${next.group}/${next.replica}`);
          await played(worker, next);
        }
        return names;
      }),
    );
    const all = ["g1/0", "g1/1", "g1/2", "g2/0", "g2/1", "g2/2"];
    expect(seen.flat().sort()).toEqual(all);
    const results: string[] = [];
    for (const _ of all) {
      const { group, replica } = await told(opener, "rollout.result");
      results.push(`${group}/${replica}`);
    }
    expect(results.sort()).toEqual(all);
    // A worker that did not ask for more hears of its own episodes.
    const own = workers.map(
      (worker) => worker.received.filter(({ event }) => event === "rollout.result").length,
    );
    expect(own).toEqual(seen.map(({ length }) => length));
  });

  it("lose nothing when one of them vanishes in the middle, and no other notices", async () => {
    const server = await start({ limits: { graceSeconds: 0.2 } });
    const opener = await Peer.connect(server);
    const { rollout, token } = await opened(opener, { group: 2, groups: 1 });
    const worker = await Peer.connect(server);
    await worker.ask({ op: "rollout.attach", rollout, token });
    const lost = await pulled(worker, rollout);
    await worker.ask({ op: "step", session: lost.session, step: 1, actions: [{ type: "echo" }] });
    const kept = await pulled(opener, rollout);
    // It waits for an episode, too, when it goes.
    worker.send({ op: "rollout.next", rollout });
    worker.kill();
    expect(await told(opener, "rollout.again")).toMatchObject({ replica: lost.replica, code: "returned" });
    const again = await pulled(opener, rollout);
    expect(again).toMatchObject({ group: lost.group, replica: lost.replica, seed: lost.seed, attempt: 1 });
    await played(opener, again);
    await played(opener, kept);
    expect(await told(opener, "rollout.group")).toMatchObject({ state: "complete" });
    expect((await stats(opener, rollout)).episodes).toMatchObject({ graded: 2, failed: 0, playing: 0 });
  });

  it("are told again what they missed", async () => {
    const server = await start();
    const opener = await Peer.connect(server);
    const { rollout, token } = await opened(opener, { groups: 3 });
    await played(opener, await pulled(opener, rollout));
    const { number } = await told(opener, "rollout.result");
    await played(opener, await pulled(opener, rollout));
    opener.kill();
    const another = await Peer.connect(server);
    await another.ask({ op: "rollout.attach", rollout, token, events: true, after: number });
    expect(await told(another, "rollout.group")).toMatchObject({ group: "g1" });
    expect(await told(another, "rollout.result")).toMatchObject({ group: "g2" });
  });
});

describe("the end of a rollout", () => {
  it("comes after its grace time when everybody has left it", async () => {
    const server = await start({ limits: { graceSeconds: 0.2 } });
    const peer = await Peer.connect(server);
    await opened(peer, { warm: { min: 2, max: 2 } });
    await until(() => environments.now === before + 2);
    peer.kill();
    await until(() => environments.now === before && server.counts().sessions === 0);
  });

  it("comes when nobody asks anything of it for too long", async () => {
    const peer = await Peer.connect(await start({ limits: { idleSeconds: 0.2 } }));
    const { rollout } = await opened(peer, { warm: { min: 1, max: 1 } });
    expect(await told(peer, "rollout.closed")).toMatchObject({ rollout, code: "rollout_over" });
    await until(() => environments.now === before);
  });

  it("lets a drain play what is played, and frees what waits at once", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { rollout } = await opened(peer, { warm: { min: 2, max: 2 } });
    const playing = await pulled(peer, rollout);
    await until(() => environments.now === before + 3);
    const drained = server.drain(30);
    await until(() => environments.now === before + 1);
    expect((await peer.ask({ op: "rollout.next", rollout })).error.code).toBe("server_draining");
    expect((await peer.ask({ op: "rollout.open", tasks: "all" })).error.code).toBe("server_draining");
    await played(peer, playing);
    expect(await told(peer, "rollout.result")).toMatchObject({ status: "graded" });
    await drained;
  });

  it("is the drain's where its time is up", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { rollout } = await opened(peer, { weights: { scripted: 1 }, warm: { min: 2, max: 2 } });
    await pulled(peer, rollout);
    await server.close();
    expect(environments.now).toBe(before);
  });
});

describe("late replicas", () => {
  it("are closed for their players when their group goes on without them", async () => {
    const server = await start();
    const [one, two] = [await Peer.connect(server), await Peer.connect(server)];
    const stragglers = { policy: "drop", quorum: 1, after_s: 0 };
    const { rollout, token } = await opened(one, { group: 2, groups: 1, stragglers });
    await two.ask({ op: "rollout.attach", rollout, token });
    const late = await pulled(two, rollout);
    await played(one, await pulled(one, rollout));
    expect(await two.wait((message) => message.event === "closed")).toMatchObject({
      session: late.session,
      code: "episode_cut",
    });
    expect(await told(one, "rollout.group")).toMatchObject({ state: "cut", late: [late.replica] });
    expect(await pulled(one, rollout)).toEqual({ done: true });
  });
});
