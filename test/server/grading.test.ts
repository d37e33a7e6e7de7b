/** A grader that would not end: whatever ends its session over the wire frees its machine as well. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { TaskEnvironmentFactory } from "../../src/env/index.js";
import { makeTask } from "../../src/env/task/index.js";
import { loadAddon } from "../../src/sandbox/microvm/addon.js";
import type { ServerOptions } from "../../src/server/index.js";
import { closePool } from "../../src/verifiers/index.js";
import { endless } from "../support/endless-grader.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";
import { Peer, start, stopAll } from "../support/wire-server.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

/** Waits, without a bound of its own, for what the machines of this process are. */
const machines = (open: number, running: number) =>
  expect
    .poll(() => loadAddon().engineStats(), { timeout: 60_000 })
    .toMatchObject({ machines: open, running, inFlight: running });

describe.skipIf(unavailable !== null)("a grader that does not end", () => {
  let factory: TaskEnvironmentFactory;
  beforeEach(() => {
    factory = new TaskEnvironmentFactory({ provider: provider(), tasks: [makeTask(endless())] });
  });
  afterEach(async () => {
    await stopAll();
    factory.close();
  });

  /** A connection whose session is in the middle of `evaluate`; two machines are there, and one computes. */
  async function grading(options: Partial<ServerOptions> = {}, fields: Record<string, unknown> = {}) {
    const server = await start({ factory, machines: () => provider().openMachines(), ...options });
    const peer = await Peer.connect(server);
    const { session, token } = await peer.session({ task: "endless", ...fields });
    const id = peer.send({ op: "evaluate", session });
    await machines(2, 1);
    return { server, peer, session, token, id };
  }

  it("is stopped by cancel, and the session plays on", async () => {
    const { peer, session, id } = await grading();
    expect((await peer.ask({ op: "cancel", session })).result).toEqual({ cancelled: true });
    expect((await peer.reply(id)).error.code).toBe("cancelled");
    await machines(1, 0);
    const step = { op: "step", session, step: 1, actions: [{ type: "exec", command: "echo on" }] };
    expect((await peer.ask(step)).result.observation.results[0].text).toBe("on");
  });

  it("is stopped by close, which answers when both machines are gone", async () => {
    const { peer, session, id } = await grading();
    expect((await peer.ask({ op: "close", session })).ok).toBe(true);
    expect((await peer.reply(id)).error.code).toBe("cancelled");
    expect(loadAddon().engineStats()).toMatchObject({ machines: 0, running: 0 });
    // A golden that was just loaded may still be decoding its code.
    await expect.poll(() => loadAddon().engineStats(), { timeout: 60_000 }).toMatchObject({ inFlight: 0 });
  });

  it("is stopped when its client vanishes and has no grace time", async () => {
    const { peer } = await grading({}, { grace_s: 0 });
    peer.kill();
    await machines(0, 0);
  });

  it("goes on while a client that has grace time is away, and is stopped when that is over", async () => {
    const { server, peer, session, token } = await grading({}, { grace_s: 3_600 });
    peer.kill();
    const other = await Peer.connect(server);
    expect((await other.ask({ op: "attach", session, token })).ok).toBe(true);
    await machines(2, 1);
    await other.ask({ op: "close", session });
    await machines(0, 0);
  });

  it("is stopped at the session's lifetime, though it works", async () => {
    const { peer, session } = await grading({ limits: { lifetimeSeconds: 5 } });
    expect(await peer.wait(({ event }) => event === "closed")).toMatchObject({
      session,
      code: "session_expired",
    });
    await machines(0, 0);
  });

  it("does not hold up a server that leaves", async () => {
    const { server } = await grading();
    await server.close();
    expect(loadAddon().engineStats()).toMatchObject({ machines: 0, running: 0 });
    // A golden that was just loaded may still be decoding its code.
    await expect.poll(() => loadAddon().engineStats(), { timeout: 60_000 }).toMatchObject({ inFlight: 0 });
  });
});
