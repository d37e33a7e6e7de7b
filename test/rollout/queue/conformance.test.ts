import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkQueue } from "../../../src/rollout/queue/index.js";
import { type RedisServer, startRedis, withoutRedis } from "../../support/redis-server.js";
import { redisBench, sqliteBench } from "./benches.js";

describe("the queue in a SQLite file", () => {
  it("keeps the contract", async () => {
    const report = await checkQueue({ make: sqliteBench });
    expect(report.problems).toEqual([]);
    expect(report.rules).toBeGreaterThan(70);
  });
});

describe.skipIf(withoutRedis !== null)("the queue on BullMQ and Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("keeps the same contract", async () => {
    const report = await checkQueue({ make: () => redisBench(server.url) });
    expect(report.problems).toEqual([]);
    expect(report.rules).toBeGreaterThan(70);
  });
});

it.runIf(withoutRedis !== null)(`skips Redis: ${withoutRedis}`, () => {
  expect(withoutRedis).not.toBeNull();
});

describe("the suite itself", () => {
  it("finds a queue that accepts the heartbeat of a lost lease", async () => {
    const report = await checkQueue({
      make: async () => {
        const bench = await sqliteBench();
        const { one } = bench;
        const heartbeat = one.heartbeat.bind(one);
        one.heartbeat = (lease) => heartbeat(lease).catch(() => undefined);
        return bench;
      },
    });
    expect(report.ok).toBe(false);
    expect(report.problems.join()).toContain("heartbeat");
  });
});
