import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pool } from "../../../src/rollout/index.js";

/** Work that takes so many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const jobs = fc.array(
  fc.record({
    turns: fc.integer({ min: 0, max: 4 }),
    fails: fc.boolean(),
    /** Gives up after so many turns, if it has not begun. */
    patience: fc.option(fc.integer({ min: 0, max: 6 })),
  }),
  { maxLength: 30 },
);

describe("a pool", () => {
  it("never does more at a time than it has slots, loses no job, and fails with what the work fails with", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), jobs, async (size, plan) => {
        const pool = new Pool("p", size);
        let running = 0;
        let begun = 0;
        const settled = await Promise.allSettled(
          plan.map(async (job, index) => {
            const leave = new AbortController();
            if (job.patience !== null) void turns(job.patience).then(() => leave.abort(new Error("gave up")));
            return pool.run(
              async () => {
                running += 1;
                begun += 1;
                expect(running).toBeLessThanOrEqual(size);
                await turns(job.turns);
                running -= 1;
                if (job.fails) throw new Error(`job ${index}`);
                return index;
              },
              { signal: leave.signal },
            );
          }),
        );
        for (const [index, result] of settled.entries()) {
          if (result.status === "fulfilled") expect(result.value).toBe(index);
          else expect((result.reason as Error).message).toMatch(new RegExp(`^(job ${index}|gave up)$`));
        }
        const gaveUp = settled.filter(
          (result) => result.status === "rejected" && (result.reason as Error).message === "gave up",
        );
        expect(begun + gaveUp.length).toBe(plan.length);
        expect(pool.metrics()).toMatchObject({ running: 0, queued: 0, done: begun });
      }),
      { numRuns: 60 },
    );
  });

  it("serves who came first first, but for the urgent, and leaves no slot idle while somebody waits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        async (size, urgencies) => {
          const pool = new Pool("p", size);
          const held = await Promise.all(Array.from({ length: size }, () => pool.acquire()));
          const order: number[] = [];
          const waiting = urgencies.map(async (urgent, index) => {
            const slot = await pool.acquire({ urgent });
            order.push(index);
            const { running, queued } = pool.metrics();
            expect(running === size || queued === 0).toBe(true);
            await turns(1);
            slot.release();
          });
          for (const slot of held) slot.release();
          await Promise.all(waiting);
          const indices = urgencies.map((_, index) => index);
          const expected = [
            ...indices.filter((index) => urgencies[index] === true),
            ...indices.filter((index) => urgencies[index] === false),
          ];
          expect(order).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("tells how busy it was, how many wait and how long they waited", async () => {
    const pool = new Pool("run", 2);
    expect(pool.metrics()).toMatchObject({ utilisation: 0, waitingMs: { p50: null, p99: null } });
    const [first, second] = await Promise.all([pool.acquire(), pool.acquire()]);
    const third = pool.acquire();
    await turns(3);
    expect(pool.metrics()).toMatchObject({ name: "run", size: 2, running: 2, queued: 1, queuedPeak: 1 });
    first.release();
    const slot = await third;
    expect(slot.waitedMs).toBeGreaterThan(0);
    second.release();
    slot.release();
    const { busyS, elapsedS, utilisation, waitingMs, done, queued } = pool.metrics();
    expect({ done, queued }).toEqual({ done: 3, queued: 0 });
    expect(busyS).toBeLessThanOrEqual(2 * elapsedS);
    expect(utilisation).toBeGreaterThan(0.5);
    expect(waitingMs.p99).toBeGreaterThan(waitingMs.p50 ?? 0);
  });

  it("takes a slot back once, however often it is given back", async () => {
    const pool = new Pool("p", 1);
    const slot = await pool.acquire();
    slot.release();
    slot.release();
    const [one] = await Promise.all([pool.acquire()]);
    let granted = false;
    const next = pool.acquire().then((other) => {
      granted = true;
      return other;
    });
    await turns(2);
    expect(granted).toBe(false);
    one.release();
    (await next).release();
  });

  it("refuses a size that makes no sense", () => {
    for (const size of [0, -1, 1.5, Number.NaN]) expect(() => new Pool("p", size)).toThrow(RangeError);
  });
});
