import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { QueueBench } from "../../../src/rollout/queue/conformance/index.js";
import { type RedisServer, startRedis, withoutRedis } from "../../support/redis-server.js";
import { redisBench, sqliteBench } from "./benches.js";
import { Model, type Operation } from "./model.js";

const small = (max: number) => fc.integer({ min: 0, max });
const either = small(1);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      job: small(9),
      priority: small(1),
      attempts: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("lease" as const), node: small(2), handle: either }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("heartbeat" as const, "ack" as const, "ack" as const, "nack" as const),
      lease: small(19),
      handle: either,
      delay: fc.constantFrom(0, 1_000, 60_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      share: fc.constantFrom(0.01, 0.4, 0.7, 1.1),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("collect" as const),
      handle: either,
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("settle" as const), batch: small(9), handle: either }),
  },
);

async function holds(make: () => Promise<QueueBench>, runs: number): Promise<void> {
  const property = fc.asyncProperty(fc.array(operation, { maxLength: 60 }), async (operations) => {
    const bench = await make();
    try {
      await new Model(bench).run(operations);
    } finally {
      await bench.end();
    }
  });
  await fc.assert(property, { numRuns: runs });
}

describe("any interleaving of operations and time", () => {
  it("leaves the queue in SQLite as the model says", () => holds(sqliteBench, 100));
});

describe.skipIf(withoutRedis !== null)("any interleaving on Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it("leaves the queue as the model says", () => holds(() => redisBench(server.url), 40));
});
