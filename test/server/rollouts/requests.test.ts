import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/client/index.js";
import { scriptedFactory } from "../../support/scripted-environment.js";
import { Peer, start, stopAll } from "../../support/wire-server.js";
import { opened } from "./support.js";

afterEach(stopAll);

const factory = {
  ...scriptedFactory,
  tasks: () => [
    ...scriptedFactory.tasks(),
    { id: "exam", version: "1", instruction: "Measure.", tags: [], use: "eval" as const },
  ],
};
const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`label${index}`, index]));

describe("rollout.open", () => {
  it.each([
    [{}, "bad_request", "tasks"],
    [{ tasks: ["scripted"], environment: "echo" }, "bad_request", "tasks"],
    [{ tasks: [] }, "bad_request", "tasks"],
    [{ tasks: "every" }, "bad_request", "tasks"],
    [{ tasks: ["scripted", "scripted"] }, "bad_request", "tasks[1]"],
    [{ tasks: ["scriptd"] }, "unknown_task", "tasks[0]"],
    [{ tasks: ["exam"] }, "eval_only", "tasks[0]"],
    [{ environment: "ecko" }, "unknown_environment", "environment"],
    [{ tasks: "all", purpose: "test" }, "bad_request", "purpose"],
    [{ tasks: "all", group: 0 }, "bad_request", "group"],
    [{ tasks: "all", group: 257 }, "bad_request", "group"],
    [{ tasks: "all", groups: 0 }, "bad_request", "groups"],
    [{ tasks: "all", groups: 1.5 }, "bad_request", "groups"],
    [{ tasks: "all", seed: -1 }, "bad_request", "seed"],
    [{ tasks: "all", seeds: [] }, "bad_request", "seeds"],
    [{ tasks: "all", seeds: [1, "2"] }, "bad_request", "seeds[1]"],
    [{ tasks: "all", weights: { scripted: -1 } }, "bad_request", "weights.scripted"],
    [{ tasks: "all", weights: { other: 1 } }, "unknown_task", "weights.other"],
    [{ tasks: "all", weights: { exam: 1 } }, "unknown_task", "weights.exam"],
    [{ tasks: "all", priorities: { scripted: 0.5 } }, "bad_request", "priorities.scripted"],
    [{ tasks: "all", priorities: { other: 1 } }, "unknown_task", "priorities.other"],
    [{ tasks: "all", quotas: { scripted: -1 } }, "bad_request", "quotas.scripted"],
    [{ tasks: "all", quotas: { other: 1 } }, "unknown_task", "quotas.other"],
    [{ tasks: "all", warm: { min: -1 } }, "bad_request", "warm.min"],
    [{ tasks: "all", warm: { min: 3, max: 2 } }, "bad_request", "warm.min"],
    [{ tasks: "all", warm: { max: 1025 } }, "bad_request", "warm.max"],
    [{ tasks: "all", warm: { most: 3 } }, "bad_request", "warm.most"],
    [{ tasks: "all", stragglers: { policy: "kill" } }, "bad_request", "stragglers.policy"],
    [{ tasks: "all", stragglers: { quorum: 1 } }, "bad_request", "stragglers.policy"],
    [{ tasks: "all", stragglers: { policy: "drop", quorum: 0 } }, "bad_request", "stragglers.quorum"],
    [
      { tasks: "all", group: 2, stragglers: { policy: "drop", quorum: 3 } },
      "bad_request",
      "stragglers.quorum",
    ],
    [{ tasks: "all", stragglers: { policy: "drop", after_s: -1 } }, "bad_request", "stragglers.after_s"],
    [{ tasks: "all", attempts: 0 }, "bad_request", "attempts"],
    [{ tasks: "all", attempts: 11 }, "bad_request", "attempts"],
    [{ tasks: "all", rollout: "two words" }, "bad_request", "rollout"],
    [{ tasks: "all", grace_s: -1 }, "bad_request", "grace_s"],
    [{ tasks: "all", labels: many }, "bad_request", "labels"],
    [{ tasks: "all", checkpoints: { budget_mib: 0 } }, "bad_request", "checkpoints.budget_mib"],
    [{ environment: "echo", checkpoints: {} }, "bad_request", "checkpoints"],
    [{ tasks: "all", record: "no" }, "bad_request", "record"],
    [{ tasks: "all", secrets: { values: ["short"] } }, "bad_request", "secrets.values[0]"],
    [{ tasks: "all", wieghts: {} }, "bad_request", "wieghts"],
  ])("refuses %j", async (fields, code, path) => {
    const server = await start({ factory });
    const peer = await Peer.connect(server);
    const reply = await peer.ask({ op: "rollout.open", ...fields });
    expect({ ok: reply.ok, code: reply.error.code, path: reply.error.path }).toEqual({
      ok: false,
      code,
      path,
    });
    expect(server.counts().sessions).toBe(0);
  });

  it("says which tasks it left out, and what was probably meant", async () => {
    const peer = await Peer.connect(await start({ factory }));
    expect(await opened(peer, { tasks: "all" })).toMatchObject({ tasks: ["scripted"], left_out: ["exam"] });
    const { error } = await peer.ask({ op: "rollout.open", tasks: ["scriptd"] });
    expect(error.suggestion).toBe('did you mean "scripted"?');
  });

  it("that was refused is no reason for its client not to close it, or to try again", async () => {
    const server = await start({ factory, limits: { rollouts: 1 } });
    const client = await connect(server.url);
    const [first, second, third] = [0, 1, 2].map(() => client.rollout({ tasks: ["scripted"] }));
    await first?.open();
    const full = expect.objectContaining({ code: "too_many_rollouts" }) as Error;
    await expect(second?.next()).rejects.toEqual(full);
    await second?.close();
    await expect(third?.open()).rejects.toEqual(full);
    await first?.close();
    expect((await third?.next())?.task).toBe("scripted");
    await third?.close();
    await client.close();
  });

  it("opens as many as the server may have, and each name once", async () => {
    const peer = await Peer.connect(await start({ limits: { rollouts: 2 } }));
    const { rollout } = await opened(peer, { rollout: "r1" });
    expect((await peer.ask({ op: "rollout.open", tasks: "all", rollout: "r1" })).error.code).toBe(
      "rollout_exists",
    );
    await opened(peer);
    const third = await peer.ask({ op: "rollout.open", tasks: "all" });
    expect(third.error).toMatchObject({ code: "too_many_rollouts", retry: true });
    await peer.ask({ op: "rollout.close", rollout });
    await opened(peer, { rollout: "r1" });
  });
});

describe("the other requests of rollouts", () => {
  it.each([
    [{ op: "rollout.next" }, "bad_request", "rollout"],
    [{ op: "rollout.next", rollout: "none" }, "unknown_rollout", "rollout"],
    [{ op: "rollout.next", rollout: "r1", wait_s: -1 }, "bad_request", "wait_s"],
    [{ op: "rollout.next", rollout: "r1", wait: 1 }, "bad_request", "wait"],
    [{ op: "rollout.weights", rollout: "r1" }, "bad_request", "weights"],
    [{ op: "rollout.weights", rollout: "r1", weights: { other: 1 } }, "unknown_task", "weights.other"],
    [{ op: "rollout.weights", rollout: "r1", weights: { scripted: "1" } }, "bad_request", "weights.scripted"],
    [{ op: "rollout.weights", rollout: "none", weights: {} }, "unknown_rollout", "rollout"],
    [{ op: "rollout.stats", rollout: "none" }, "unknown_rollout", "rollout"],
    [{ op: "rollout.close", rollout: "none" }, "unknown_rollout", "rollout"],
    [{ op: "rollout.attach", rollout: "r1" }, "bad_request", "token"],
    [{ op: "rollout.attach", rollout: "r1", token: "guessed" }, "unknown_rollout", "rollout"],
    [{ op: "rollout.attach", rollout: "r1", token: "t", after: 1 }, "bad_request", "after"],
    [{ op: "rollout.nxt", rollout: "r1" }, "unknown_op", "op"],
  ])("are refused by their fault: %j", async (request, code, path) => {
    const peer = await Peer.connect(await start());
    await opened(peer, { rollout: "r1" });
    const { error } = await peer.ask(request);
    expect([error.code, error.path]).toEqual([code, path]);
  });
});
