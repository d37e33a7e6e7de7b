import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../../src/errors/index.js";
import { play, settle, World } from "./support.js";

const died = new ShinkenError("machine_died", "kernel panic");
const over = new ShinkenError("rollout_over", "closed by the test");

describe("a rollout", () => {
  it("gives out groups whole: one task, one set of parameters, and each replica once", async () => {
    const size = fc.integer({ min: 1, max: 5 });
    const pullers = fc.integer({ min: 1, max: 7 });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000),
        size,
        fc.integer({ min: 1, max: 6 }),
        pullers,
        async (seed, group, groups, n) => {
          const world = new World({ seed, group, groups, tasks: ["a", "b", "c"] });
          const seen: { group: string; task: string; params: unknown; replica: number; seed: number }[] = [];
          const puller = async () => {
            for (;;) {
              const lease = await world.rollout.pull().promise;
              if (lease === null) return;
              const { name } = lease;
              seen.push({ ...name, params: lease.group.params });
              await play(lease);
            }
          };
          await Promise.all(Array.from({ length: n }, puller));
          expect(seen).toHaveLength(group * groups);
          for (const id of new Set(seen.map((one) => one.group))) {
            const members = seen.filter((one) => one.group === id);
            expect(new Set(members.map(({ task }) => task)).size).toBe(1);
            expect(new Set(members.map(({ params }) => JSON.stringify(params))).size).toBe(1);
            expect(members.map(({ replica }) => replica).sort()).toEqual([...Array(group).keys()]);
            expect(new Set(members.map((one) => one.seed)).size).toBe(group);
          }
          expect(world.told("rollout.group").map(({ state }) => state)).toEqual(
            Array(groups).fill("complete"),
          );
          expect(world.open).toBe(0);
          expect(world.rollout.done).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("gives the same episodes in the same order to one puller and to many", async () => {
    const order = async (at: number) => {
      const world = new World({ group: 3, groups: 4, tasks: ["a", "b"] });
      const names: unknown[] = [];
      for (;;) {
        const leases = await Promise.all(Array.from({ length: at }, () => world.rollout.pull().promise));
        const played = leases.filter((lease) => lease !== null);
        names.push(...played.map(({ name }) => name));
        // All at once, so that the last ones are not waited for.
        await Promise.all(played.map(play));
        if (world.rollout.done) return names;
      }
    };
    expect(await order(4)).toEqual(await order(1));
  });

  it("keeps ready as many as are wanted at the least, in order, and hands them over", async () => {
    const world = new World({ group: 2, warm: { min: 3, max: 3 } });
    world.rollout.start();
    await settle();
    expect(world.rollout.stats().episodes).toMatchObject({ warm: 3, playing: 0, waiting: 0 });
    expect(world.open).toBe(3);
    const lease = await world.pull();
    expect(lease.warm).toBe(true);
    expect(lease.name).toMatchObject({ group: "g1", replica: 0 });
    await settle();
    expect(world.rollout.stats().episodes).toMatchObject({ warm: 3, playing: 1 });
    await world.rollout.close(over);
    expect(world.open).toBe(0);
  });

  it("frees what waits ready when nobody pulls, and makes it ready again when somebody does", async () => {
    const world = new World({ warm: { min: 0, max: 8 } });
    for (let pull = 0; pull < 20; pull++) await play(await world.pull());
    await settle();
    expect(world.rollout.stats().episodes.warm).toBeGreaterThan(0);
    world.now += 10 * 60_000;
    world.rollout.tick();
    await settle();
    expect(world.open).toBe(0);
    const next = await world.pull();
    expect(next.name.group).toBe("g21");
    await play(next);
    await world.rollout.close(over);
  });

  it("never has more machines waiting than its bound says", async () => {
    const world = new World({ group: 4, warm: { min: 0, max: 2 } });
    for (let pull = 0; pull < 30; pull++) {
      await play(await world.pull());
      await settle();
      expect(world.open).toBeLessThanOrEqual(2);
    }
    await world.rollout.close(over);
    expect(world.open).toBe(0);
  });

  it("gives an episode out again whose player went away, before any other, with its seed", async () => {
    const world = new World({ group: 2, groups: 2 });
    const [one, two] = [await world.pull(), await world.pull()];
    await one.environment.step([{ type: "say" }]);
    await one.environment.close();
    expect(world.told("rollout.again")).toEqual([
      expect.objectContaining({ ...one.name, code: "returned" }) as unknown,
    ]);
    const again = await world.pull();
    expect(again.name).toEqual(one.name);
    expect(again.environment).not.toBe(one.environment);
    await Promise.all([play(again), play(two)]);
    expect(world.told("rollout.result")).toHaveLength(2);
    await world.rollout.close(over);
  });

  it("begins an episode anew whose machine failed, so often and no oftener, and never gives it a reward", async () => {
    const world = new World({ attempts: 3, groups: 1, warm: { min: 0, max: 0 } });
    for (const attempt of [1, 2, 3]) {
      const lease = await world.pull();
      expect(lease.name).toMatchObject({ replica: 0, attempt });
      lease.failed("machine_died", "kernel panic");
      await settle();
      expect(world.open).toBe(0);
    }
    expect(world.told("rollout.again").map(({ attempt, code }) => [attempt, code])).toEqual([
      [2, "machine_died"],
      [3, "machine_died"],
    ]);
    expect(world.told("rollout.result")).toEqual([
      expect.objectContaining({ status: "failed", reward: null, verdict: null, attempt: 3 }) as unknown,
    ]);
    expect(await world.rollout.pull().promise).toBeNull();
  });

  it("tries a preparation that fails again, and tells whoever waits when it fails for good", async () => {
    const world = new World({
      attempts: 2,
      groups: 2,
      tasks: ["bad", "good"],
      priorities: { bad: 1 },
      quotas: { bad: 1 },
    });
    world.refuse = ({ name }) => (name.task === "bad" ? died : undefined);
    await expect(world.pull()).rejects.toMatchObject({ code: "machine_died" });
    expect(world.told("rollout.result")).toEqual([
      expect.objectContaining({
        task: "bad",
        status: "failed",
        reason: "machine_died: kernel panic",
      }) as unknown,
    ]);
    const good = await world.pull();
    expect(good.name.task).toBe("good");
    await play(good);
    expect(world.rollout.done).toBe(true);
  });

  it("counts no attempt where there was no room, and gives the same episode to the next pull", async () => {
    const world = new World({ groups: 1, attempts: 1 });
    world.refuse = () => new ShinkenError("out_of_memory", "the host is full");
    await expect(world.pull()).rejects.toMatchObject({ code: "out_of_memory" });
    await expect(world.pull()).rejects.toMatchObject({ code: "out_of_memory" });
    world.refuse = () => undefined;
    expect((await world.pull()).name).toMatchObject({ group: "g1", attempt: 1 });
    await world.rollout.close(over);
  });

  it("does not spin on preparations that nobody waits for and that fail", async () => {
    const world = new World({ warm: { min: 4, max: 4 } });
    let tried = 0;
    world.refuse = () => {
      tried += 1;
      return died;
    };
    world.rollout.start();
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(tried).toBe(4);
    expect(world.told("rollout.result")).toEqual([]);
    await world.rollout.close(over);
  });

  it("forgets a pull that was given up, and keeps its episode for the next one", async () => {
    const world = new World({ groups: 1 });
    let open = () => {};
    world.gate = new Promise((resolve) => (open = resolve));
    const waiter = world.rollout.pull();
    world.rollout.giveUp(waiter);
    expect(await waiter.promise).toBeNull();
    open();
    expect((await world.pull()).name).toMatchObject({ group: "g1", replica: 0 });
    await world.rollout.close(over);
  });

  it("changes its tasks while it runs", async () => {
    const world = new World({ tasks: ["a", "b"], weights: { b: 0 } });
    for (let pull = 0; pull < 5; pull++) {
      const lease = await world.pull();
      expect(lease.name.task).toBe("a");
      await play(lease);
    }
    const ahead = world.rollout.stats().groups.drawn - 5;
    world.rollout.setWeights({ a: 0, b: 1 });
    const tasks: string[] = [];
    for (let pull = 0; pull < ahead + 5; pull++) {
      const lease = await world.pull();
      tasks.push(lease.name.task);
      await play(lease);
    }
    expect(tasks).toEqual([...Array<string>(ahead).fill("a"), ...Array<string>(5).fill("b")]);
    await world.rollout.close(over);
  });

  it("waits where nothing has a weight, until something has", async () => {
    const world = new World({ weights: { a: 0 } });
    const waiter = world.rollout.pull();
    await settle();
    expect(waiter.settled).toBe(false);
    world.rollout.setWeights({ a: 1 });
    expect((await waiter.promise)?.name.group).toBe("g1");
    await world.rollout.close(over);
  });

  it("tells whoever waits when it is closed, and takes what is played", async () => {
    const world = new World({ groups: 1 });
    const lease = await world.pull();
    const waiter = world.rollout.pull();
    await world.rollout.close(over);
    await expect(waiter.promise).rejects.toMatchObject({ code: "rollout_over" });
    expect(lease.open).toBe(false);
    expect(world.open).toBe(0);
    await expect(world.rollout.pull().promise).rejects.toMatchObject({ code: "rollout_over" });
  });

  it("frees what is still being made when it is closed", async () => {
    const world = new World({ warm: { min: 2, max: 2 } });
    let open = () => {};
    world.gate = new Promise((resolve) => (open = resolve));
    world.rollout.start();
    await settle();
    const closed = world.rollout.close(over);
    open();
    await closed;
    expect([world.prepared, world.open]).toEqual([2, 0]);
  });
});

describe("a group whose replicas are late", () => {
  const late = { quorum: 2, afterMs: 1_000 };

  it("waits for them by the policy wait", async () => {
    const world = new World({ group: 3, groups: 1, stragglers: { policy: "wait", ...late } });
    const leases = [await world.pull(), await world.pull(), await world.pull()] as const;
    await Promise.all(leases.slice(0, 2).map(play));
    world.now += 1_000_000;
    world.rollout.tick();
    expect(leases[2].open).toBe(true);
    await play(leases[2]);
    expect(world.told("rollout.group")).toMatchObject([{ state: "complete", late: [] }]);
  });

  it("goes on without them by the policy drop, once its quorum has ended and their time is up", async () => {
    const world = new World({ group: 3, groups: 1, stragglers: { policy: "drop", ...late } });
    const leases = [await world.pull(), await world.pull(), await world.pull()] as const;
    await play(leases[0]);
    world.now += 5_000;
    world.rollout.tick();
    await play(leases[1]);
    world.now += 999;
    world.rollout.tick();
    expect(leases[2].open).toBe(true);
    world.now += 1;
    world.rollout.tick();
    await settle();
    expect(leases[2].open).toBe(false);
    expect(world.open).toBe(0);
    expect(world.told("rollout.group")).toMatchObject([
      { state: "cut", late: [2], progress: { size: 3, ended: 2 } },
    ]);
    // What a late player still tells counts no more.
    leases[2].finished({ verdict: {} as never, reward: 1, steps: 1 });
    expect(world.told("rollout.result")).toHaveLength(2);
    expect(world.rollout.done).toBe(true);
  });

  it("replaces them by the policy resample, by replicas with numbers of their own, and in the end cuts", async () => {
    const world = new World({
      group: 3,
      groups: 1,
      attempts: 3,
      stragglers: { policy: "resample", ...late },
    });
    const leases = [await world.pull(), await world.pull(), await world.pull()] as const;
    await Promise.all(leases.slice(0, 2).map(play));
    for (const replica of [3, 4]) {
      world.now += 1_000;
      world.rollout.tick();
      expect((await world.pull()).name).toMatchObject({ group: "g1", replica, attempt: 1 });
    }
    world.now += 1_000;
    world.rollout.tick();
    await settle();
    expect(world.told("rollout.group").map((event) => [event.state, event.late])).toEqual([
      ["resampled", [2]],
      ["resampled", [3]],
      ["cut", [4]],
    ]);
    expect(world.open).toBe(0);
  });
});
