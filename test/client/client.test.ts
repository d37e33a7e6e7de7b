import { afterEach, describe, expect, it } from "vitest";
import { type ClientOptions, connect, type ShinkenClient } from "../../src/client/index.js";
import { checkEnv } from "../../src/env/conformance/index.js";
import { EchoEnvironment } from "../../src/env/echo.js";
import { ShinkenError } from "../../src/errors/index.js";
import type { RunningServer } from "../../src/server/index.js";
import { start, stopAll } from "../support/wire-server.js";

const clients: ShinkenClient[] = [];

async function client(server: RunningServer, options: ClientOptions = {}): Promise<ShinkenClient> {
  const made = await connect(server.url, options);
  clients.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((made) => made.close()));
  await stopAll();
});

const echo = [{ type: "echo", text: "hello" }];

describe.each(["msgpack", "json"] as const)("the client over %s", (encoding) => {
  it("plays an episode", async () => {
    const made = await client(await start(), { encoding });
    const session = await made.create({ task: "scripted", session: "mine" });
    const milestones: unknown[] = [];
    session.onEvent((event) => milestones.push(event));
    expect((await session.reset({ seed: 5 })).info).toMatchObject({ seed: 5 });
    const event = { event: "milestone", check: "first", reward: 1, step: 1 };
    const step = await session.step([{ type: "event", event }]);
    expect(step).toMatchObject({ reward: 0.5, terminated: false, info: { done: 1 } });
    expect(milestones).toEqual([event]);
    expect((await session.observe()).results[0]?.text).toBe("1");
    expect(await session.evaluate()).toMatchObject({
      task: "scripted",
      taskVersion: "1",
      status: "graded",
      passed: true,
    });
    const branch = await session.fork("branch");
    expect((await branch.step(echo)).info["done"]).toBe(2);
    expect((await made.list()).map((row) => row.session)).toEqual(["mine", "branch"]);
    await Promise.all([session.close(), branch.close()]);
    expect(await made.list()).toEqual([]);
    expect((await made.tasks())[0]?.id).toBe("scripted");
  });

  it("gives a remote session the contract of a local one", async () => {
    const made = await client(await start({ makeEcho: () => new EchoEnvironment() }), { encoding });
    const report = await checkEnv(() => made.create({ environment: "echo" }));
    expect(report.problems).toEqual([]);
    expect(report.rules).toBeGreaterThan(5);
  });
});

describe("the client", () => {
  it("rejects with the server's code, path and suggestion", async () => {
    const made = await client(await start());
    const session = await made.create({ environment: "echo" });
    await expect(session.step(echo)).rejects.toMatchObject({
      code: "not_reset",
      suggestion: "send reset first",
    });
    await expect(made.create({ task: "scriptet" })).rejects.toThrow(ShinkenError);
    await expect(made.call({ op: "reset", sesion: "a" })).rejects.toMatchObject({
      code: "bad_request",
      path: "sesion",
    });
  });

  it.each(["msgpack", "json"] as const)(
    "rejects the right request where the server cannot read its id, over %s",
    async (encoding) => {
      const made = await client(await start({ limits: { wire: { maxDepth: 8 } } }), { encoding });
      const session = await made.create({ environment: "echo" });
      await session.reset();
      let deep: unknown = 1;
      for (let i = 0; i < 20; i++) deep = [deep];
      const fine = made.list();
      await expect(session.step([{ type: "echo", deep }])).rejects.toMatchObject({ code: "too_large" });
      expect(await fine).toHaveLength(1);
      expect((await session.step(echo)).info["done"]).toBe(1);
    },
  );

  it("refuses to send what the server would cut the connection for", async () => {
    const made = await client(await start({ limits: { wire: { maxMessageBytes: 5000 } } }));
    const session = await made.create({ environment: "echo" });
    await session.reset();
    await expect(session.step([{ type: "echo", text: "x".repeat(100_000) }])).rejects.toMatchObject({
      code: "too_large",
    });
    expect((await session.step(echo)).info["done"]).toBe(1);
  });

  it("refuses to send NaN", async () => {
    const made = await client(await start());
    await expect(made.call({ op: "list", what: Number.NaN })).rejects.toMatchObject({ code: "bad_request" });
  });

  it("steps many sessions at once, each with its own outcome", async () => {
    const made = await client(await start());
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => made.create({ environment: "echo" })),
    );
    await Promise.all(sessions.map((session) => session.reset()));
    const outcomes = await made.stepAll(
      sessions.map((session, i) => ({
        session,
        actions: i === 7 ? [{ type: "throw", code: "machine_died" }] : [{ type: "echo", text: String(i) }],
      })),
    );
    outcomes.forEach((outcome, i) => {
      if (i === 7) expect(outcome).toMatchObject({ status: "rejected", reason: { code: "machine_died" } });
      else expect(outcome).toMatchObject({ value: { observation: { results: [{ text: String(i) }] } } });
    });
  });

  it("cancels a running step", async () => {
    const made = await client(await start());
    const session = await made.create({ environment: "echo" });
    await session.reset();
    const step = session.step([{ type: "sleep", ms: 60_000 }]);
    session.cancel();
    await expect(step).rejects.toMatchObject({ code: "cancelled" });
  });

  it("is refused without the right token", async () => {
    const token = "0123456789abcdef";
    const server = await start({ token });
    await expect(connect(server.url)).rejects.toMatchObject({ code: "unauthorized" });
    expect((await client(server, { token })).server.protocol).toBe(1);
  });

  it("says so where nobody listens", async () => {
    const server = await start();
    await server.close();
    await expect(connect(server.url)).rejects.toMatchObject({ code: "connection_lost", retry: true });
  });
});

describe("when the connection breaks", () => {
  it("the client attaches its sessions again and no step is done twice", async () => {
    const made = await client(await start());
    const session = await made.create({ environment: "echo" });
    await session.reset();
    for (let done = 1; done <= 20; done++) {
      const step = session.step([{ type: "sleep", ms: done % 4 === 0 ? 30 : 0 }]);
      if (done % 2 === 0) made.breakConnection();
      expect((await step).info["done"]).toBe(done);
    }
  });

  it("requests made meanwhile wait", async () => {
    const made = await client(await start());
    const session = await made.create({ environment: "echo" });
    await session.reset();
    made.breakConnection();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const [step, list] = await Promise.all([session.step(echo), made.list()]);
    expect(step.info["done"]).toBe(1);
    expect(list).toHaveLength(1);
  });

  it("an evaluation that is still running is asked for until it is done", async () => {
    const made = await client(await start());
    const session = await made.create({ environment: "echo" });
    await session.reset();
    const step = session.step([{ type: "sleep", ms: 300 }]);
    const broken = new Promise((resolve) => setTimeout(resolve, 30)).then(() => made.breakConnection());
    await broken;
    expect((await step).info["done"]).toBe(1);
    expect((await session.evaluate()).status).toBe("graded");
  });

  it("a session that the server has given up rejects, the others go on", async () => {
    const made = await client(await start());
    const gone = await made.create({ environment: "echo", graceSeconds: 0 });
    const kept = await made.create({ environment: "echo" });
    await Promise.all([gone.reset(), kept.reset()]);
    made.breakConnection();
    await expect(gone.step(echo)).rejects.toMatchObject({ code: "unknown_session" });
    expect((await kept.step(echo)).info["done"]).toBe(1);
  });

  it("what cannot be repeated is rejected", async () => {
    const made = await client(await start());
    const create = made.create({ task: "slow" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    made.breakConnection();
    await expect(create).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("everything is rejected if the client was told not to reconnect", async () => {
    const made = await client(await start(), { reconnect: false });
    const session = await made.create({ environment: "echo" });
    await session.reset();
    const step = session.step([{ type: "sleep", ms: 60_000 }]);
    made.breakConnection();
    await expect(step).rejects.toMatchObject({ code: "connection_lost" });
    await expect(session.observe()).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("another client can take the session over by its token", async () => {
    const server = await start();
    const [one, two] = [await client(server), await client(server)];
    const session = await one.create({ environment: "echo" });
    await session.reset();
    await session.step(echo);
    const notices: unknown[] = [];
    session.onNotice((notice) => notices.push(notice));
    const taken = await two.attach(session.name, session.token);
    expect((await taken.step(echo)).info["done"]).toBe(2);
    expect(notices).toEqual([{ event: "detached" }]);
  });
});
