import { afterEach, beforeEach, expect, it } from "vitest";
import type { QueueBench } from "../../../src/rollout/queue/conformance/index.js";
import { work } from "../../../src/rollout/queue/index.js";
import { sqliteBench } from "./benches.js";

let bench: QueueBench;
beforeEach(async () => {
  bench = await sqliteBench();
});
afterEach(() => bench.end());

it("a node tells of a golden before it takes its next job, which is then one of the same golden", async () => {
  const { one, other } = bench;
  const job = (id: string, golden: string) => ({ id, run: "run", golden, payload: {} });
  await one.add([job("a1", "a"), job("b1", "b"), job("a2", "a")]);
  const stop = new AbortController();
  const held = new Set<string>();
  const order: string[] = [];
  await work({
    ...{ queue: one, node: "node", concurrency: 1, signal: stop.signal, drainMs: 1_000 },
    goldens: () => Promise.resolve([...held]),
    play: ({ id, golden }) => {
      order.push(id);
      held.add(golden ?? "");
      if (order.length === 3) stop.abort();
      return Promise.resolve(null);
    },
  });
  expect(order).toEqual(["a1", "a2", "b1"]);
  expect(await other.nodes()).toMatchObject([{ node: "node", goldens: ["a", "b"] }]);
});
