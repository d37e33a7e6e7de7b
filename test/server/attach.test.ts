import { afterEach, describe, expect, it } from "vitest";
import { Peer, start, stopAll, until } from "../support/wire-server.js";

afterEach(stopAll);

const actions = [{ type: "echo", text: "once" }];

describe("a session whose connection broke", () => {
  it("goes on where it was, for whoever has its token", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { session, token } = await peer.session();
    await peer.ask({ op: "step", session, step: 1, actions });
    peer.kill();
    await until(() => server.counts().connections === 0);

    const other = await Peer.connect(server);
    expect((await other.ask({ op: "attach", session, token })).result).toEqual({
      session,
      task: "echo",
      state: "running",
      next: 2,
    });
    expect((await other.ask({ op: "step", session, step: 1, actions })).result.info.done).toBe(1);
    expect((await other.ask({ op: "step", session, step: 2, actions })).result.info.done).toBe(2);
  });

  it("finishes the step that was running, and its resend gets the reply", async () => {
    const server = await start();
    const peer = await Peer.connect(server);
    const { session, token } = await peer.session();
    const slow = [{ type: "sleep", ms: 300 }];
    peer.send({ op: "step", session, step: 1, actions: slow });
    await new Promise((resolve) => setTimeout(resolve, 50));
    peer.kill();
    const other = await Peer.connect(server);
    await other.ask({ op: "attach", session, token });
    expect((await other.ask({ op: "step", session, step: 1, actions: slow })).result).toMatchObject({
      step: 1,
      info: { done: 1 },
    });
    expect((await other.ask({ op: "observe", session })).result.observation.results[0].text).toBe("1");
  });

  it("is gone after its grace time", async () => {
    const server = await start({ limits: { graceSeconds: 0.2 } });
    const peer = await Peer.connect(server);
    const { session, token } = await peer.session();
    peer.kill();
    await until(() => server.counts().sessions === 0);
    const other = await Peer.connect(server);
    expect((await other.ask({ op: "attach", session, token })).error.code).toBe("unknown_session");
  });
});

describe("a session that was detached on purpose", () => {
  it("can be attached by another connection, in another encoding", async () => {
    const server = await start();
    const [one, two] = [await Peer.connect(server), await Peer.connect(server, "json")];
    const { session, token } = await one.session();
    expect((await one.ask({ op: "detach", session })).result).toEqual({ grace_s: 30 });
    expect((await one.ask({ op: "observe", session })).error.code).toBe("unknown_session");
    expect((await two.ask({ op: "attach", session, token })).ok).toBe(true);
    expect((await two.ask({ op: "step", session, step: 1, actions })).ok).toBe(true);
  });
});

describe("attach", () => {
  it("takes the session from a connection that still holds it, and tells that one", async () => {
    const server = await start();
    const [one, two] = [await Peer.connect(server), await Peer.connect(server)];
    const { session, token } = await one.session();
    await two.ask({ op: "attach", session, token });
    expect(await one.wait((message) => message.event === "detached")).toEqual({ event: "detached", session });
    expect((await one.ask({ op: "observe", session })).error.code).toBe("unknown_session");
    one.kill();
    await until(() => server.counts().connections === 1);
    expect((await two.ask({ op: "observe", session })).ok).toBe(true);
  });

  it("says the same of a wrong token and of a wrong name", async () => {
    const server = await start();
    const [one, two] = [await Peer.connect(server), await Peer.connect(server)];
    const { session, token } = await one.session();
    const replies = [
      await two.ask({ op: "attach", session, token: "" }),
      await two.ask({ op: "attach", session, token: `${token.slice(0, -1)}!` }),
      await two.ask({ op: "attach", session: "nobody", token }),
    ];
    expect(replies.map((reply) => reply.error.code)).toEqual([
      "unknown_session",
      "unknown_session",
      "unknown_session",
    ]);
    expect((await one.ask({ op: "observe", session })).ok).toBe(true);
  });
});
