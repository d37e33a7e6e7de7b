import { afterEach, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { opened } from "../support/scripted-environment.js";
import { Peer, start, stopAll, until } from "../support/wire-server.js";

afterEach(stopAll);

const token = "0123456789abcdef0123456789abcdef";
const http = (url: string, path: string) => url.replace("ws:", "http:").replace("/v1", path);

describe("who may connect", () => {
  it("to an address that others can reach needs a token to be set", async () => {
    await expect(start({ host: "0.0.0.0" })).rejects.toMatchObject({ code: "unauthorized" });
    await expect(start({ host: "0.0.0.0", token: "short" })).rejects.toMatchObject({ code: "unauthorized" });
    expect((await start({ host: "0.0.0.0", token })).port).toBeGreaterThan(0);
  });

  it.each([
    ["none", {}],
    ["a wrong one", { Authorization: "Bearer 0123456789abcdef0123456789abcdee" }],
    ["a part", { Authorization: `Bearer ${token.slice(0, 8)}` }],
    ["another scheme", { Authorization: `Basic ${token}` }],
  ])("with a token set and %s given is refused", async (_, headers) => {
    const server = await start({ token });
    await expect(Peer.connect(server, "msgpack", headers)).rejects.toThrow("401");
    expect((await fetch(http(server.url, "/metrics"), { headers })).status).toBe(401);
  });

  it("with the right token is let in", async () => {
    const server = await start({ token });
    const headers = { Authorization: `Bearer ${token}` };
    const peer = await Peer.connect(server, "msgpack", headers);
    expect((await peer.ask({ op: "list", what: "tasks" })).ok).toBe(true);
    expect((await fetch(http(server.url, "/metrics"), { headers })).status).toBe(200);
    expect((await fetch(http(server.url, "/health"))).status).toBe(200);
  });

  it("does not include web pages, unless they were named", async () => {
    const page = "https://example.org";
    await expect(Peer.connect(await start(), "msgpack", { Origin: page })).rejects.toThrow("403");
    const peer = await Peer.connect(await start({ origins: [page] }), "msgpack", { Origin: page });
    expect((await peer.ask({ op: "list", what: "tasks" })).ok).toBe(true);
  });
});

describe("the upgrade", () => {
  it("declines compression", async () => {
    const server = await start();
    const ws = new WebSocket(server.url, { perMessageDeflate: true });
    await new Promise((resolve) => ws.on("open", resolve));
    expect(ws.extensions).toBe("");
    ws.terminate();
  });

  it("is not to be had on another path", async () => {
    const server = await start();
    const ws = new WebSocket(server.url.replace("/v1", "/v2"));
    await expect(new Promise((_, reject) => ws.on("error", reject))).rejects.toThrow(/404|405/);
  });

  it("is refused on a port that is taken", async () => {
    const server = await start();
    await expect(start({ port: server.port })).rejects.toMatchObject({ code: "host_unsupported" });
  });
});

describe("a slow reader", () => {
  it("is closed with a code when its bytes exceed the bound, and no send is dropped", async () => {
    const server = await start({ limits: { sendQueueBytes: 3_000_000 } });
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    const socket = (peer.ws as unknown as { _socket: { pause(): void; resume(): void } })._socket;
    socket.pause();
    for (let step = 1; step <= 30; step++) {
      peer.send({ op: "step", session, step, actions: [{ type: "big", bytes: 1_000_000 }] });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await until(() => server.counts().connections === 0);
    socket.resume();
    expect(await peer.closed).toEqual({ code: 4008, reason: "slow_consumer" });
    const metrics = await (await fetch(http(server.url, "/metrics"))).text();
    expect(metrics).toMatch(/^shinken_slow_consumers_total 1$/m);
    expect(metrics).toMatch(/^shinken_dropped_sends_total 0$/m);
  });

  it("that wakes up in time gets every message, in order", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    const socket = (peer.ws as unknown as { _socket: { pause(): void; resume(): void } })._socket;
    socket.pause();
    const ids: number[] = [];
    for (let step = 1; step <= 10; step++) {
      ids.push(peer.send({ op: "step", session, step, actions: [{ type: "big", bytes: 1_000_000 }] }));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    socket.resume();
    const replies = [];
    for (const _ of ids) replies.push(await peer.wait(() => true));
    expect(replies.map((reply) => reply.id)).toEqual(ids);
    expect(replies.map((reply) => reply.result.observation.results[0].text.length)).toEqual(
      ids.map(() => 1_000_000),
    );
  });

  it("does not hold up another client", async () => {
    const server = await start();
    const [slow, quick] = [await Peer.connect(server), await Peer.connect(server)];
    const [a, b] = [await slow.session(), await quick.session()];
    (slow.ws as unknown as { _socket: { pause(): void } })._socket.pause();
    slow.send({ op: "step", session: a.session, step: 1, actions: [{ type: "big", bytes: 7_000_000 }] });
    expect(
      (await quick.ask({ op: "step", session: b.session, step: 1, actions: [{ type: "echo" }] })).ok,
    ).toBe(true);
  });
});

describe("a message above the transport's limit", () => {
  it("ends only its own connection", async () => {
    const server = await start({ limits: { wire: { maxMessageBytes: 1000 } } });
    const [big, other] = [await Peer.connect(server), await Peer.connect(server)];
    big.ws.on("error", () => undefined);
    big.raw(Buffer.alloc(100_000));
    expect((await big.closed).code).toBe(1006);
    expect((await other.ask({ op: "list", what: "tasks" })).ok).toBe(true);
  });
});

describe("drain", () => {
  it("lets an episode finish, refuses new ones, and leaves when the last session is closed", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    const drained = server.drain(60);
    expect((await peer.ask({ op: "create", environment: "echo" })).error).toMatchObject({
      code: "server_draining",
      retry: true,
    });
    expect((await peer.ask({ op: "fork", session })).error.code).toBe("server_draining");
    expect((await peer.ask({ op: "reset", session })).error.code).toBe("server_draining");
    await expect(Peer.connect(server)).rejects.toThrow();
    expect((await peer.ask({ op: "step", session, step: 1, actions: [{ type: "echo" }] })).ok).toBe(true);
    await peer.ask({ op: "close", session });
    await drained;
    expect((await peer.closed).code).toBe(1001);
  });

  it("ends what is still running after the stated time", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    peer.send({ op: "step", session, step: 1, actions: [{ type: "sleep", ms: 600_000 }] });
    await server.drain(0.2);
    expect(await peer.wait((message) => message.event === "closed")).toMatchObject({
      session,
      code: "server_draining",
    });
    expect(await peer.closed).toEqual({ code: 1001, reason: "server_draining" });
    expect(opened.now).toBe(0);
  });

  it("does not leave a machine behind that was still being made", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const before = opened.ever;
    peer.send({ op: "create", task: "slow" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.drain(0);
    await until(() => opened.ever > before && opened.now === 0);
  });
});

describe("what a server shows of itself", () => {
  it("counts sessions, forks, steps, verdicts, failures and memory", async () => {
    const server = await start({
      machines: () => 3,
      killedForks: () => ({ lost: 2, repeated: 0 }),
      guestMemory: () => ({
        liveBytes: 8192,
        heldBytes: 1_048_576,
        fileBytes: 4096,
        flatBytes: 12_288,
        hugeBytes: 2_097_152,
        paths: { scannedPages: 7, coldFaults: 8, prefetchedPages: 9, liveFaults: 10 },
      }),
    });
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    const request = { op: "step", session, step: 1, actions: [{ type: "echo" }] };
    await peer.ask(request);
    await peer.ask(request);
    await peer.ask({ op: "evaluate", session });
    await peer.ask({ op: "fork", session });
    await peer.ask({ op: "step", session, step: 2, actions: [{ type: "throw", code: "machine_died" }] });
    await peer.ask({
      op: "step",
      session,
      step: 2,
      actions: [{ type: "event", event: { event: "infra", code: "fork_failed", message: "" } }],
    });
    const text = await (await fetch(http(server.url, "/metrics"))).text();
    for (const line of [
      "shinken_sessions 2",
      "shinken_connections 1",
      "shinken_machines 3",
      'shinken_killed_forks_total{reason="lost"} 2',
      'shinken_killed_forks_total{reason="repeated"} 0',
      "shinken_guest_memory_live_bytes 8192",
      "shinken_guest_memory_held_bytes 1048576",
      "shinken_guest_memory_file_bytes 4096",
      "shinken_guest_memory_flat_bytes 12288",
      "shinken_guest_memory_huge_bytes 2097152",
      'shinken_userfaultfd_pages_total{path="dirty_set"} 7',
      'shinken_userfaultfd_pages_total{path="cold_golden"} 8',
      'shinken_userfaultfd_pages_total{path="cold_golden_prefetch"} 9',
      'shinken_userfaultfd_pages_total{path="live_snapshot"} 10',
      "shinken_sessions_created_total 2",
      "shinken_resets_total 1",
      "shinken_forks_total 2",
      "shinken_fork_ready_seconds_count 1",
      'shinken_fork_ready_seconds_bucket{le="0.001"} 0',
      'shinken_fork_ready_seconds_bucket{le="0.0015"} 1',
      "shinken_steps_total 2",
      'shinken_verdicts_total{status="graded"} 1',
      'shinken_verdicts_total{status="ungraded"} 0',
      'shinken_infra_failures_total{code="machine_died"} 1',
      'shinken_infra_failures_total{code="fork_failed"} 1',
      'shinken_errors_total{code="machine_died"} 1',
      "shinken_dropped_sends_total 0",
    ]) {
      expect(text.split("\n")).toContain(line);
    }
    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
  });

  it("counts a failure of the harness once, however many replies repeat it", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { session } = await peer.session();
    const died = { type: "throw", code: "machine_died" };
    const event = { type: "event", event: { event: "infra", code: "machine_died", message: "" } };
    const step = (...actions: unknown[]) => peer.ask({ op: "step", session, step: 1, actions });
    const counted = async () =>
      /^shinken_infra_failures_total\{code="machine_died"\} (\d+)$/m.exec(
        await (await fetch(http(server.url, "/metrics"))).text(),
      )?.[1];
    await step(event, died);
    await step(died);
    expect(await counted()).toBe("1");
    await peer.ask({ op: "reset", session });
    await step(died);
    expect(await counted()).toBe("2");
  });

  it("is healthy until it drains", async () => {
    const server = await start();
    expect(await (await fetch(http(server.url, "/health"))).json()).toEqual({
      status: "ok",
      protocol: 1,
      sessions: 0,
    });
    expect((await fetch(http(server.url, "/nothing"))).status).toBe(404);
    expect((await fetch(http(server.url, "/health"), { method: "POST" })).status).toBe(405);
  });
});

describe("an error reply", () => {
  it("does not repeat at length what the client sent", async () => {
    const peer = await Peer.connect(await start());
    const reply = await peer.ask({ op: "observe", session: "a", ["k".repeat(60_000)]: 1 });
    expect(reply.error.code).toBe("bad_request");
    expect(JSON.stringify(reply).length).toBeLessThan(10_000);
  });
});
