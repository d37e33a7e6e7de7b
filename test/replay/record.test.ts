import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { EchoEnvironment } from "../../src/env/index.js";
import type { EnvironmentEvent, EnvironmentFactory } from "../../src/env/environment.js";
import type { StateMark } from "../../src/env/provenance.js";
import { ShinkenError } from "../../src/errors/index.js";
import { noFacts, RecordedFactory, readBundle, readIndex } from "../../src/replay/index.js";
import { ScriptedEnvironment } from "../support/scripted-environment.js";
import { Peer, start, stopAll, until } from "../support/wire-server.js";
import {
  againstIndex,
  bundles,
  eventsOf,
  outline,
  recorded,
  recordedEcho,
  recorder,
  say,
} from "./support/recording.js";

describe("a recorded episode", () => {
  it("holds its session, every action, every answer and its end, and the index has its hash", async () => {
    const into = recorder();
    const environment = recordedEcho(into);
    await environment.reset({ seed: 7 });
    const before = Date.now();
    await environment.step([say("one"), say("two")]);
    await environment.step([{ type: "done" }]);
    const { file = "", episode } = environment.bundle ?? {};
    await environment.close();

    const events = await eventsOf(join(into.folder, file));
    expect(outline(events)).toEqual([
      "session 0",
      "observation 0",
      "action 1",
      "action 1",
      "observation 1",
      "action 2",
      "observation 2",
      "marker:ended 2",
    ]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
    expect(events[0]).toMatchObject({ task: "echo", runtime: "test/1", episode, parent: null, labels: {} });
    expect(events[1]).toMatchObject({ observation: { instruction: expect.any(String) as string } });
    expect(events[2]).toMatchObject({ action: say("one"), action_id: "1.0" });
    expect(events[3]).toMatchObject({ action: say("two"), action_id: "1.1" });
    expect(events[4]).toMatchObject({
      observation: { results: [{ text: "one" }, { text: "two" }] },
      terminated: false,
      info: { step: 1 },
    });
    expect(events[4]?.t_wall).toBeGreaterThanOrEqual(before);
    expect(events[6]).toMatchObject({ terminated: true });
    expect(await againstIndex(into.folder)).toEqual({ equal: 1, wrong: [] });
    expect((await readIndex(into.folder)).get(file)).toMatchObject({
      episode,
      task: "echo",
      steps: 2,
      blobs: [],
    });
    expect(into.stats()).toMatchObject({ open: 0, finished: 1, failed: 0, queued: 0 });
  });

  it("has its rewards, milestones, progress, failures of the harness and verdicts where they happened", async () => {
    const into = recorder();
    const environment = recorded(new ScriptedEnvironment("scripted"), into);
    const told: EnvironmentEvent[] = [];
    environment.onEvent((event) => told.push(event));
    await environment.reset();
    const milestone = { event: "milestone", check: "half", reward: 0.25, step: 1 } as const;
    const progress = { event: "progress", kind: "loop", step: 1, repeats: 3, message: "again" } as const;
    const infra = { event: "infra", code: "machine_died", message: "gone" } as const;
    await environment.step([milestone, progress, infra].map((event) => ({ type: "event", event })));
    await environment.evaluate();
    await environment.close();

    const events = await eventsOf(bundles(into.folder)[0] ?? "");
    expect(outline(events).slice(2)).toEqual([
      ...["action 1", "action 1", "action 1"],
      ...["reward 1", "marker:loop 1", "infra 1"],
      ...["reward 1", "observation 1", "verdict 1", "marker:ended 1"],
    ]);
    expect(events.filter(({ channel }) => channel === "reward")).toMatchObject([
      { reward: 0.25, check: "half" },
      { reward: 0.5, check: null },
    ]);
    expect(events.find(({ channel }) => channel === "infra")).toMatchObject({ code: "machine_died" });
    expect(events.find(({ channel }) => channel === "verdict")).toMatchObject({
      verdict: { status: "graded", score: 1 },
      verifier: "none",
    });
    expect(told).toEqual([milestone, progress, infra]);
    expect([...(await readIndex(into.folder)).values()]).toMatchObject([{ status: "graded", score: 1 }]);
  });

  it("tells a step that was refused, cancelled or failed from one that was answered", async () => {
    const into = recorder();
    const environment = recorded(new ScriptedEnvironment("scripted"), into);
    await environment.reset();
    await expect(environment.step([{ type: "dance" }])).rejects.toMatchObject({ code: "bad_action" });
    const slow = environment.step([{ type: "sleep", ms: 60_000 }]);
    environment.cancel();
    await expect(slow).rejects.toMatchObject({ code: "cancelled" });
    await expect(environment.step([{ type: "throw" }])).rejects.toThrow("a plain error");
    await environment.step([say("now")]);
    await environment.close();

    const path = bundles(into.folder)[0] ?? "";
    expect(outline(await eventsOf(path)).slice(2)).toEqual([
      ...["action 1", "marker:refused 1"],
      ...["action 1", "marker:cancelled 1"],
      ...["action 1", "marker:failed 1"],
      ...["action 1", "reward 1", "observation 1", "marker:ended 1"],
    ]);
    const { steps } = await readBundle(path);
    expect(steps).toMatchObject([{ step: 1, actions: [{ action: say("now") }] }]);
    expect(steps[0]?.others).toContainEqual(expect.objectContaining({ kind: "failed", code: "internal" }));
  });

  describe("of a machine whose state takes its time", () => {
    /** Tells its state when it is let to. */
    class Slow extends ScriptedEnvironment {
      readonly waiting: (() => void)[] = [];
      #step = 0;
      override async step(actions: readonly unknown[]): ReturnType<ScriptedEnvironment["step"]> {
        this.#step += 1;
        return super.step(actions);
      }
      async state(): Promise<StateMark> {
        const step = this.#step;
        await new Promise<void>((resolve) => this.waiting.push(resolve));
        return { step, digest: `state ${step}`, instructions: step, guestMs: step };
      }
      tell(): void {
        for (const resolve of this.waiting.splice(0)) resolve();
      }
    }

    it("answers before the state is told, and holds back what comes next until it is", async () => {
      const into = recorder();
      const slow = new Slow("scripted");
      const environment = recorded(slow, into);
      await environment.reset();
      let answered = false;
      const step = environment.step([say("one")]).then(() => {
        answered = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(answered).toBe(false);
      slow.tell();
      await step;
      slow.tell();
      await environment.step([say("two")]);
      const closed = environment.close();
      slow.tell();
      await closed;
      expect(outline(await eventsOf(bundles(into.folder)[0] ?? ""))).toEqual([
        ...["session 0", "observation 0", "snapshot 0"],
        ...["action 1", "reward 1", "observation 1", "snapshot 1"],
        ...["action 2", "reward 2", "observation 2", "snapshot 2", "marker:ended 2"],
      ]);
    });

    it("takes a cancel for the step that waits for it, which then did nothing", async () => {
      const into = recorder();
      const slow = new Slow("scripted");
      const environment = recorded(slow, into);
      await environment.reset();
      const step = environment.step([say("one")]);
      environment.cancel();
      slow.tell();
      await expect(step).rejects.toMatchObject({ code: "cancelled" });
      await environment.step([say("two")]);
      const closed = environment.close();
      slow.tell();
      await closed;
      const path = bundles(into.folder)[0] ?? "";
      expect(outline(await eventsOf(path)).slice(3, 5)).toEqual(["action 1", "marker:refused 1"]);
      const { steps } = await readBundle(path);
      expect(steps).toMatchObject([
        { step: 1, actions: [{ action: say("two") }], snapshot: { digest: "state 1" } },
      ]);
    });
  });

  it("says that there was no verdict where the grading itself was refused", async () => {
    class Ungradable extends ScriptedEnvironment {
      override evaluate(): Promise<never> {
        return Promise.reject(new ShinkenError("grader_error", "no grader"));
      }
    }
    const into = recorder();
    const environment = recorded(new Ungradable("scripted"), into);
    await environment.reset();
    await environment.step([say("a")]);
    await expect(environment.evaluate()).rejects.toMatchObject({ code: "grader_error" });
    await environment.close();
    const { steps, verdicts } = await readBundle(bundles(into.folder)[0] ?? "");
    expect(verdicts).toEqual([]);
    expect(steps[0]?.actions).toHaveLength(1);
    expect(steps[0]?.others).toContainEqual(
      expect.objectContaining({ kind: "no_verdict", code: "grader_error" }),
    );
  });

  it("keeps what a model read and wrote, whatever the fields are called", async () => {
    const into = recorder();
    const environment = recordedEcho(into, { labels: { run: "r", replica: 3, trained: true } });
    await environment.reset();
    const decision = { output: "text", token_ids: [1, 2], seq: 99, step: 7, t_wall: "never", other: null };
    await environment.step([say("a")], decision);
    await environment.close();
    const path = bundles(into.folder)[0] ?? "";
    const { session, steps, end } = await readBundle(path);
    expect(session.labels).toEqual({ run: "r", replica: 3, trained: true });
    expect(steps[0]?.decisions).toMatchObject([{ output: "text", token_ids: [1, 2], other: null, step: 1 }]);
    expect(end.finished).toBe(true);
  });

  it("ends with the next reset, and goes on after a reset that was refused", async () => {
    const into = recorder();
    const environment = recorded(new ScriptedEnvironment("scripted"), into);
    await environment.reset();
    const first = environment.bundle?.file ?? "";
    await environment.step([say("a")]);
    await expect(environment.reset({ params: { refuse: true } })).rejects.toMatchObject({
      code: "bad_request",
    });
    await environment.step([say("b")]);
    await environment.reset();
    const second = environment.bundle?.file ?? "";
    await environment.step([say("c")]);
    await environment.close();
    expect(second).not.toBe(first);
    const texts = async (file: string) =>
      (await readBundle(join(into.folder, file))).steps.map(({ actions }) => actions[0]?.action["text"]);
    expect(await texts(first)).toEqual(["a", "b"]);
    expect(await texts(second)).toEqual(["c"]);
    expect((await againstIndex(into.folder)).equal).toBe(2);
  });

  it("names its parent where it is a branch, and the parent says that it branched", async () => {
    const into = recorder();
    const environment = recordedEcho(into);
    await environment.reset();
    await environment.step([say("a")]);
    const branch = await environment.fork();
    await branch.step([say("b")]);
    const { file = "", episode } = environment.bundle ?? {};
    await Promise.all([environment.close(), branch.close()]);
    const branched = bundles(into.folder).find((path) => !path.endsWith(file)) ?? "";
    const events = await eventsOf(branched);
    expect(outline(events)).toEqual(["session 1", "action 2", "observation 2", "marker:ended 2"]);
    expect(events[0]).toMatchObject({ parent: { episode, file, step: 1 } });
    expect(outline(await eventsOf(join(into.folder, file)))).toContain("marker:branched 1");
  });

  it("is not begun where a factory is asked to record nothing", async () => {
    const into = recorder();
    const inner: EnvironmentFactory = {
      tasks: () => [],
      create: () => Promise.resolve(new EchoEnvironment()),
      createSandbox: () => Promise.resolve(new EchoEnvironment()),
    };
    const factory = new RecordedFactory(inner, into, noFacts);
    for (const make of [factory.create.bind(factory), factory.createSandbox.bind(factory)]) {
      const silent = await make("x", { record: false });
      await silent.reset();
      await silent.step([say("a")]);
      await silent.close();
    }
    expect(bundles(into.folder)).toEqual([]);
    const heard = await factory.create("x");
    await heard.reset();
    await heard.close();
    expect(bundles(into.folder)).toHaveLength(1);
  });
});

describe("a recorded server", () => {
  afterEach(stopAll);

  const serve = (into: ReturnType<typeof recorder>) =>
    start({
      makeEcho: (options) => (options.record === false ? new EchoEnvironment() : recordedEcho(into, options)),
      limits: { graceSeconds: 0.1 },
    });
  const lastEvent = async (into: ReturnType<typeof recorder>) =>
    (await eventsOf(bundles(into.folder)[0] ?? "")).at(-1);

  it("finishes the bundle when the client closes its session", async () => {
    const into = recorder();
    const peer = await Peer.connect(await serve(into));
    const { session } = await peer.session({ environment: "echo", labels: { group: "g" } });
    await peer.ask({ op: "step", session, step: 1, actions: [say("a")], decision: { output: "a" } });
    await peer.ask({ op: "close", session });
    expect(await lastEvent(into)).toMatchObject({ kind: "ended", message: "close" });
    const { session: told, steps } = await readBundle(bundles(into.folder)[0] ?? "");
    expect(told.labels).toEqual({ group: "g" });
    expect(steps).toMatchObject([{ decisions: [{ output: "a" }] }]);
  });

  it("finishes it when the client has gone for good", async () => {
    const into = recorder();
    const server = await serve(into);
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [say("a")] });
    peer.kill();
    await until(() => into.stats().finished === 1);
    expect(await lastEvent(into)).toMatchObject({ kind: "ended" });
    expect(await againstIndex(into.folder)).toEqual({ equal: 1, wrong: [] });
  });

  it("finishes all of them when it drains", async () => {
    const into = recorder();
    const server = await serve(into);
    const peer = await Peer.connect(server);
    for (let each = 0; each < 3; each += 1) await peer.session();
    await server.drain(0);
    expect(into.stats()).toMatchObject({ open: 0, finished: 3 });
    expect((await againstIndex(into.folder)).equal).toBe(3);
  });

  it("records nothing of a session that asks for that", async () => {
    const into = recorder();
    const peer = await Peer.connect(await serve(into));
    const { session } = await peer.session({ environment: "echo", record: false });
    await peer.ask({ op: "step", session, step: 1, actions: [say("a")] });
    await peer.ask({ op: "close", session });
    expect(bundles(into.folder)).toEqual([]);
    expect(() => readFileSync(join(into.folder, "index.jsonl"))).toThrow("ENOENT");
  });
});
