import { afterEach, describe, expect, it } from "vitest";
import { Peer, start, stopAll, until } from "../support/wire-server.js";

afterEach(stopAll);

describe("the limit of", () => {
  it("message bytes answers with a code, and the connection lives on", async () => {
    const peer = await Peer.connect(await start({ limits: { wire: { maxMessageBytes: 2000 } } }));
    peer.send({ op: "create", task: "x".repeat(3000) });
    expect((await peer.reply(null)).error).toMatchObject({
      code: "too_large",
      path: "(message)",
      retry: false,
    });
    expect((await peer.ask({ op: "list", what: "tasks" })).ok).toBe(true);
  });

  it.each(["msgpack", "json"] as const)("nesting holds over %s", async (encoding) => {
    const peer = await Peer.connect(await start({ limits: { wire: { maxDepth: 8 } } }), encoding);
    let params: unknown = 1;
    for (let i = 0; i < 20; i++) params = [params];
    peer.send({ op: "reset", session: "a", params: { params } });
    const { error } = await peer.reply(null);
    expect(error).toMatchObject({ code: "too_large", path: "params.params[0][0][0][0][0][0]" });
  });

  it.each(["msgpack", "json"] as const)("array entries holds over %s", async (encoding) => {
    const peer = await Peer.connect(await start({ limits: { wire: { maxArrayEntries: 10 } } }), encoding);
    peer.send({ op: "reset", session: "a", params: { list: Array(11).fill(0) } });
    expect((await peer.reply(null)).error.code).toBe("too_large");
    expect(
      (await peer.ask({ op: "reset", session: "a", params: { list: Array(10).fill(0) } })).error.code,
    ).toBe("unknown_session");
  });

  it.each(["msgpack", "json"] as const)("map entries holds over %s", async (encoding) => {
    const peer = await Peer.connect(await start({ limits: { wire: { maxMapEntries: 10 } } }), encoding);
    const map = (size: number) => Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, i]));
    peer.send({ op: "reset", session: "a", params: map(11) });
    expect((await peer.reply(null)).error.code).toBe("too_large");
    expect((await peer.ask({ op: "reset", session: "a", params: map(10) })).error.code).toBe(
      "unknown_session",
    );
  });

  it("sessions of a connection can be tried again after one was closed", async () => {
    const peer = await Peer.connect(await start({ limits: { sessionsPerConnection: 2 } }));
    const { session } = await peer.session();
    await peer.session();
    expect((await peer.ask({ op: "create", environment: "echo" })).error).toMatchObject({
      code: "too_many_sessions",
      retry: true,
    });
    expect((await peer.ask({ op: "fork", session })).error.code).toBe("too_many_sessions");
    await peer.ask({ op: "close", session });
    expect((await peer.ask({ op: "create", environment: "echo" })).ok).toBe(true);
  });

  it("sessions of the server counts all connections", async () => {
    const server = await start({ limits: { sessions: 2 } });
    const [a, b] = [await Peer.connect(server), await Peer.connect(server)];
    await a.session();
    await b.session();
    expect((await b.ask({ op: "create", environment: "echo" })).error.code).toBe("too_many_sessions");
  });

  it("connections refuses one more", async () => {
    const server = await start({ limits: { connections: 1 } });
    await Peer.connect(server);
    await expect(Peer.connect(server)).rejects.toThrow("503");
  });

  it("outstanding requests says retry, and still lets a request be cancelled", async () => {
    const peer = await Peer.connect(await start({ limits: { outstandingRequests: 2 } }));
    const sessions = [await peer.session(), await peer.session(), await peer.session()];
    const steps = sessions.map(({ session }) =>
      peer.ask({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 60_000 }] }),
    );
    expect((await steps[2])?.error).toMatchObject({ code: "too_many_requests", retry: true });
    for (const { session } of sessions.slice(0, 2))
      expect((await peer.ask({ op: "cancel", session })).result.cancelled).toBe(true);
    expect((await Promise.all(steps.slice(0, 2))).map((reply) => reply.error.code)).toEqual([
      "cancelled",
      "cancelled",
    ]);
  });

  it("idle time closes a session, and says so", async () => {
    const server = await start({ limits: { idleSeconds: 0.2 } });
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    expect(await peer.wait((message) => message.event === "closed")).toMatchObject({
      session,
      code: "session_expired",
    });
    expect(server.counts().sessions).toBe(0);
  });

  it("idle time does not hit a session that works", async () => {
    const peer = await Peer.connect(await start({ limits: { idleSeconds: 0.3 } }));
    const { session } = await peer.session();
    expect(
      (await peer.ask({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 1000 }] })).ok,
    ).toBe(true);
  });

  it("lifetime closes even a session that works", async () => {
    const peer = await Peer.connect(await start({ limits: { lifetimeSeconds: 0.3 } }));
    const { session } = await peer.session();
    const step = peer.ask({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 60_000 }] });
    expect(await peer.wait((message) => message.event === "closed")).toMatchObject({
      session,
      code: "session_expired",
    });
    expect((await step).error.code).toBe("cancelled");
  });

  it("that is not one is refused by path", async () => {
    await expect(start({ limits: { sessions: -1 } })).rejects.toMatchObject({
      code: "bad_request",
      path: "sessions",
    });
  });
});

describe("a client that is killed", () => {
  it("frees its sessions after their grace time", async () => {
    const server = await start({ limits: { graceSeconds: 0.3 } });
    const peer = await Peer.connect(server);
    for (let i = 0; i < 20; i++) await peer.session();
    expect(server.counts()).toEqual({ sessions: 20, connections: 1 });
    peer.kill();
    await until(() => server.counts().connections === 0);
    expect(server.counts().sessions).toBe(20);
    await until(() => server.counts().sessions === 0);
  });

  it("frees them at once if it asked for no grace", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    await peer.session({ environment: "echo", grace_s: 0 });
    peer.kill();
    await until(() => server.counts().connections === 0);
    expect(server.counts().sessions).toBe(0);
  });
});
