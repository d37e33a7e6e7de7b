/** Queues with a clock that tests turn. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { QueueBench } from "../../../src/rollout/queue/conformance/index.js";
import { openSqliteQueue } from "../../../src/rollout/queue/index.js";
import { openRedisQueue } from "../../../src/rollout/queue/redis/index.js";

/** So long that no lease of a test runs out by itself. */
const leaseMs = 600_000;

export function sqliteBench(): Promise<QueueBench> {
  const folder = mkdtempSync(join(tmpdir(), "shinken-queue-"));
  let now = Date.now();
  const open = () => openSqliteQueue(join(folder, "queue.db"), { leaseMs, now: () => now });
  const [one, other] = [open(), open()];
  return Promise.resolve({
    one,
    other,
    advance: (ms) => {
      now += ms;
      return Promise.resolve();
    },
    async end() {
      await one.close();
      await other.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

/** A delayed job's time is the upper part of its score. */
const scoreOfMs = 4_096;

/** Redis has a clock of its own: instead of turning it, what is to end is made to end sooner. */
export async function redisBench(url: string): Promise<QueueBench> {
  const prefix = `test-${randomUUID()}`;
  let turned = 0;
  const now = () => Date.now() + turned;
  const open = () => openRedisQueue(url, { leaseMs, now, prefix });
  const [one, other] = [await open(), await open()];
  const redis = new Redis(url);
  const sooner = async (ms: number) => {
    for (const key of await redis.keys(`${prefix}:*`)) {
      const left = await redis.pttl(key);
      if (left >= 0) await redis.pexpire(key, left - ms);
    }
    const delayed = `${prefix}:jobs:delayed`;
    for (const id of await redis.zrange(delayed, "0", "-1"))
      await redis.zincrby(delayed, -ms * scoreOfMs, id);
  };
  return {
    one,
    other,
    async advance(ms) {
      turned += ms;
      await sooner(ms);
      // BullMQ looks at what is leased twice before it takes a lease away; not more often than this.
      for (let look = 0; look < 2; look += 1) {
        await redis.del(`${prefix}:jobs:stalled-check`);
        await one.sweep();
      }
    },
    async end() {
      await one.close();
      await other.close();
      const keys = await redis.keys(`${prefix}:*`);
      if (keys.length > 0) await redis.del(...keys);
      redis.disconnect();
    },
  };
}
