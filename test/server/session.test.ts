import { afterEach, describe, expect, it } from "vitest";
import { opened } from "../support/scripted-environment.js";
import { Peer, start, stopAll, until } from "../support/wire-server.js";

afterEach(stopAll);

const echo = { type: "echo", text: "hello" };

describe.each(["msgpack", "json"] as const)("a session over %s", (encoding) => {
  it("says hello with its limits", async () => {
    const peer = await Peer.connect(await start({ serverName: "shinken-gym/test" }), encoding);
    const hello = await peer.ask({ op: "hello", protocol: 1 });
    expect(hello).toMatchObject({
      ok: true,
      result: { protocol: 1, server: "shinken-gym/test", environments: ["echo"] },
    });
    expect(hello.result.limits.sessions_per_connection).toBe(1024);
  });

  it("resets, steps, observes, evaluates and closes", async () => {
    const peer = await Peer.connect(await start(), encoding);
    const created = await peer.ask({ op: "create", task: "scripted", session: "mine" });
    expect(created.result).toMatchObject({ session: "mine", task: "scripted" });
    const reset = await peer.ask({ op: "reset", session: "mine", seed: 7, params: { size: 3 } });
    expect(reset.result).toMatchObject({
      next: 1,
      observation: { instruction: "Play scripted." },
      info: { seed: 7, params: { size: 3 } },
    });
    const step = await peer.ask({ op: "step", session: "mine", step: 1, actions: [echo] });
    expect(step.result).toEqual({
      step: 1,
      next: 2,
      reward: 0.5,
      terminated: false,
      truncated: false,
      info: { done: 1 },
      observation: { results: [{ type: "echo", text: "hello", truncated: false }] },
    });
    expect((await peer.ask({ op: "observe", session: "mine" })).result.observation.results[0].text).toBe("1");
    expect((await peer.ask({ op: "evaluate", session: "mine" })).result.verdict).toMatchObject({
      status: "graded",
      score: 1,
    });
    expect((await peer.ask({ op: "close", session: "mine" })).result).toEqual({});
    expect((await peer.ask({ op: "observe", session: "mine" })).error.code).toBe("unknown_session");
    expect(opened.now).toBe(0);
  });

  it("answers in the encoding of the request", async () => {
    const peer = await Peer.connect(await start(), encoding);
    await peer.ask({ op: "list", what: "tasks" });
    expect(peer.kinds).toEqual([encoding === "msgpack"]);
  });
});

describe("the numbering of steps", () => {
  it("returns the stored reply to a step that is sent again, and does nothing", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const first = await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    const again = await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    expect(again.result).toEqual(first.result);
    expect((await peer.ask({ op: "observe", session })).result.observation.results[0].text).toBe("1");
  });

  it("lets a resend wait for a step that is still being done", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const request = { op: "step", session, step: 1, actions: [{ type: "sleep", ms: 100 }] };
    const [first, again] = await Promise.all([peer.ask(request), peer.ask(request)]);
    expect(again.result).toEqual(first.result);
    expect(first.result.info.done).toBe(1);
  });

  it("refuses a resend with other actions", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    const other = await peer.ask({
      op: "step",
      session,
      step: 1,
      actions: [{ type: "echo", text: "other" }],
    });
    expect(other.error).toMatchObject({ code: "bad_request", path: "actions" });
  });

  it.each([3, 17])("refuses step %i where 2 is next", async (step) => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    const reply = await peer.ask({ op: "step", session, step, actions: [echo] });
    expect(reply.error).toMatchObject({ code: "step_out_of_order", suggestion: "the next step is 2" });
  });

  it("does not use up the number of a step that ended in an error", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    expect((await peer.ask({ op: "step", session, step: 2, actions: [{ type: "jump" }] })).error.code).toBe(
      "bad_action",
    );
    expect((await peer.ask({ op: "step", session, step: 1, actions: [echo] })).ok).toBe(true);
    expect((await peer.ask({ op: "step", session, step: 2, actions: [echo] })).result.info.done).toBe(2);
  });

  it("goes on after a reset that was refused, which changes nothing", async () => {
    const peer = await Peer.connect(await start());
    const { session } = (await peer.ask({ op: "create", environment: "echo" })).result;
    const refused = { op: "reset", session, params: { refuse: true } };
    expect((await peer.ask(refused)).error).toMatchObject({ code: "bad_request", path: "params.refuse" });
    expect((await peer.ask({ op: "step", session, step: 1, actions: [echo] })).error.code).toBe("not_reset");
    await peer.ask({ op: "reset", session });
    const first = await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    expect((await peer.ask(refused)).error.code).toBe("bad_request");
    expect((await peer.ask({ op: "step", session, step: 1, actions: [echo] })).result).toEqual(first.result);
    expect((await peer.ask({ op: "step", session, step: 2, actions: [echo] })).result.next).toBe(3);
  });

  it("starts at 1 again after a reset", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    expect((await peer.ask({ op: "reset", session })).result.next).toBe(1);
    expect((await peer.ask({ op: "step", session, step: 1, actions: [echo] })).result.info.done).toBe(1);
  });
});

describe("the order of an episode", () => {
  it.each(["step", "evaluate", "observe", "fork"])("refuses %s before a reset", async (op) => {
    const peer = await Peer.connect(await start());
    const { session } = (await peer.ask({ op: "create", environment: "echo" })).result;
    const fields = op === "step" ? { step: 1, actions: [echo] } : {};
    expect((await peer.ask({ op, session, ...fields })).error.code).toBe("not_reset");
  });

  it("refuses a step after the end, and takes one after a reset", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [{ type: "done" }] });
    expect((await peer.ask({ op: "step", session, step: 2, actions: [echo] })).error.code).toBe(
      "episode_over",
    );
    expect((await peer.ask({ op: "evaluate", session })).ok).toBe(true);
    await peer.ask({ op: "reset", session });
    expect((await peer.ask({ op: "step", session, step: 1, actions: [echo] })).ok).toBe(true);
  });

  it("tells a second request to come again while the first is running", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const slow = peer.ask({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 100 }] });
    expect((await peer.ask({ op: "evaluate", session })).error).toMatchObject({
      code: "session_busy",
      retry: true,
    });
    expect((await slow).ok).toBe(true);
  });

  it("cancels what is running, and says if nothing was", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const slow = peer.ask({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 60_000 }] });
    expect((await peer.ask({ op: "cancel", session })).result).toEqual({ cancelled: true });
    expect((await slow).error.code).toBe("cancelled");
    expect((await peer.ask({ op: "cancel", session })).result).toEqual({ cancelled: false });
  });

  it("closes a session in the middle of a step", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const slow = peer.ask({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 60_000 }] });
    expect((await peer.ask({ op: "close", session })).ok).toBe(true);
    expect((await slow).error.code).toBe("cancelled");
    expect(opened.now).toBe(0);
  });
});

describe("a fork", () => {
  it("goes on with its parent's numbering in a session of its own", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions: [echo] });
    const fork = await peer.ask({ op: "fork", session, as: "branch" });
    expect(fork.result).toMatchObject({ session: "branch", state: "running", next: 2 });
    expect(
      (await peer.ask({ op: "step", session: "branch", step: 2, actions: [echo] })).result.info.done,
    ).toBe(2);
    expect((await peer.ask({ op: "observe", session })).result.observation.results[0].text).toBe("1");
  });
});

describe("create", () => {
  it("takes a plain sandbox from an image", async () => {
    const peer = await Peer.connect(await start());
    expect((await peer.ask({ op: "create", image: "shell" })).result.task).toBe("image:shell");
  });

  it("refuses a name that is taken, even while its session is still being made", async () => {
    const peer = await Peer.connect(await start());
    const [first, second] = await Promise.all([
      peer.ask({ op: "create", task: "slow", session: "one" }),
      peer.ask({ op: "create", task: "slow", session: "one" }),
    ]);
    expect([first.ok, second.ok].sort()).toEqual([false, true]);
    expect((first.ok ? second : first).error.code).toBe("session_exists");
  });

  it.each([
    [{ task: "scriptet" }, "unknown_task"],
    [{ environment: "ecko" }, "unknown_environment"],
    [{ task: "broken" }, "setup_failed"],
    [{}, "bad_request"],
    [{ task: "scripted", image: "shell" }, "bad_request"],
  ])("answers %j with %s", async (fields, code) => {
    const peer = await Peer.connect(await start());
    expect((await peer.ask({ op: "create", ...fields })).error.code).toBe(code);
  });

  it("leaves nothing behind when the client goes before the session is made", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const before = opened.ever;
    peer.send({ op: "create", task: "slow" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    peer.kill();
    await until(() => opened.ever > before && opened.now === 0);
    expect(server.counts().sessions).toBe(0);
  });
});

describe("events", () => {
  it("are pushed with the session's name", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const event = { event: "milestone", check: "first", reward: 0.25, step: 1 };
    await peer.ask({ op: "step", session, step: 1, actions: [{ type: "event", event }] });
    expect(await peer.wait((message) => message.event === "milestone")).toEqual({ ...event, session });
  });
});

describe("list", () => {
  it("shows this connection's sessions and no others", async () => {
    const server = await start();
    const [one, other] = [await Peer.connect(server), await Peer.connect(server)];
    const { session } = await one.session();
    expect((await one.ask({ op: "list", what: "sessions" })).result.sessions).toEqual([
      { session, task: "echo", state: "running", next: 1, busy: false },
    ]);
    expect((await other.ask({ op: "list", what: "sessions" })).result.sessions).toEqual([]);
    expect((await other.ask({ op: "observe", session })).error.code).toBe("unknown_session");
  });

  it("shows the tasks", async () => {
    const peer = await Peer.connect(await start());
    expect((await peer.ask({ op: "list", what: "tasks" })).result.tasks[0]).toMatchObject({
      id: "scripted",
      version: "1",
    });
  });
});

describe("an error", () => {
  it("in one session is not noticed by another", async () => {
    const peer = await Peer.connect(await start());
    const [a, b] = [await peer.session(), await peer.session()];
    const failing = peer.ask({ op: "step", session: a.session, step: 1, actions: [{ type: "throw" }] });
    const fine = peer.ask({ op: "step", session: b.session, step: 1, actions: [echo] });
    expect((await failing).error).toMatchObject({ code: "internal", retry: false });
    expect((await fine).ok).toBe(true);
  });

  it("takes the place of a reply that cannot be sent", async () => {
    const peer = await Peer.connect(await start());
    const { session } = await peer.session();
    const reply = await peer.ask({ op: "step", session, step: 1, actions: [{ type: "nan" }] });
    expect(reply.error).toMatchObject({ code: "internal", path: "result.info.value" });
  });
});
