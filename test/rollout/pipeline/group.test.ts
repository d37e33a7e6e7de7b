import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../../src/errors/index.js";
import { type GroupOptions, Pipeline, playGroup } from "../../../src/rollout/index.js";
import { type Behaviour, FakeClient, job } from "./support.js";

/** A session that works until it is cancelled. */
function endless(): Behaviour {
  let stop: () => void = () => undefined;
  return {
    step: () => new Promise((_, reject) => (stop = () => reject(new ShinkenError("cancelled", "cancelled")))),
    cancel: () => stop(),
  };
}

function play(client: FakeClient, options: Partial<GroupOptions>) {
  const pipeline = new Pipeline({ client, pools: { init: 4, run: 4, verify: 4 } });
  return playGroup(pipeline, job(), { k: 4, policy: "wait", patienceSeconds: 0.02, ...options });
}

describe("a group of replicas", () => {
  it("ends as a whole, each replica with a machine of its own seed", async () => {
    const group = await play(new FakeClient(), {});
    expect(group).toMatchObject({ task: "two-files", k: 4, whole: true, dropped: [], resampled: [] });
    expect(group.episodes.map(({ replica }) => replica)).toEqual([0, 1, 2, 3]);
    expect(new Set(group.episodes.map(({ seed }) => seed)).size).toBe(4);
    const again = await play(new FakeClient(), {});
    expect(again.episodes.map(({ seed }) => seed)).toEqual(group.episodes.map(({ seed }) => seed));
  });

  it("is cut short where stragglers are dropped, and says which", async () => {
    const client = new FakeClient((index) => (index === 2 ? endless() : {}));
    const group = await play(client, { policy: "drop" });
    expect(group.whole).toBe(false);
    expect(group.episodes.map(({ replica }) => replica)).toEqual([0, 1, 3]);
    expect(group.dropped).toMatchObject([{ replica: 2 }]);
    expect(client.log).toContain("2 cancel");
    expect(client.open).toBe(0);
  });

  it("plays a straggler again from another seed, and drops it if that is late as well", async () => {
    const once = await play(new FakeClient((index) => (index === 2 ? endless() : {})), {
      policy: "resample",
    });
    expect(once).toMatchObject({ whole: true, dropped: [], resampled: [{ replica: 2 }] });
    const [, , second] = once.episodes;
    expect(second?.seed).not.toBe(once.resampled[0]?.seed);
    const twice = await play(new FakeClient((index) => (index === 2 || index >= 4 ? endless() : {})), {
      policy: "resample",
      resamples: 2,
    });
    expect(twice).toMatchObject({ whole: false, dropped: [{ replica: 2 }] });
    expect(twice.resampled).toHaveLength(2);
  });

  it("waits for a straggler where that is the policy", async () => {
    let slow = 0;
    const client = new FakeClient((index) => ({
      step: async () => {
        if (index === 2) slow += await new Promise<number>((resolve) => setTimeout(() => resolve(1), 100));
        return undefined;
      },
    }));
    const group = await play(client, { policy: "wait" });
    expect(group).toMatchObject({ whole: true });
    expect(slow).toBe(2);
  });

  it("calls nobody late who waits for a slot, nor before the quorum is there", async () => {
    const some = () => new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 15));
    const client = new FakeClient(() => ({ step: some }));
    const pipeline = new Pipeline({ client, pools: { init: 1, run: 1, verify: 1 }, machines: 1 });
    const options = { k: 6, policy: "drop", quorum: 1, patience: 20, patienceSeconds: 0.1 } as const;
    expect(await playGroup(pipeline, job(), options)).toMatchObject({ whole: true });
  });

  it("refuses a number of replicas that makes no sense", async () => {
    await expect(play(new FakeClient(), { k: 0 })).rejects.toMatchObject({ code: "bad_request", path: "k" });
  });
});
