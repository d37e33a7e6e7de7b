import { patienceMs } from "../affinity.js";
import { claimMs, type JobQueue, type Lease, type NewJob, noticeMs } from "../types.js";
import type { QueueCheck } from "./check.js";
import type { QueueBench } from "./index.js";

type Rule = (bench: QueueBench, check: QueueCheck) => Promise<void>;

const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({
  id,
  run: "run",
  payload: { of: id },
  ...more,
});

/** A job that is there. */
async function leased(queue: JobQueue, node = "node"): Promise<Lease> {
  const lease = await queue.lease(node);
  if (lease === null) throw new Error("no job is given though one waits");
  return lease;
}

async function allLeased(queue: JobQueue, node = "node"): Promise<string[]> {
  const ids: string[] = [];
  for (let lease = await queue.lease(node); lease !== null; lease = await queue.lease(node))
    ids.push(lease.id);
  return ids;
}

/** Each on a queue of its own. */
export const rules: Readonly<Record<string, Rule>> = {
  async "an empty queue"({ one }, check) {
    check.equal(await one.lease("node"), null, "a lease of nothing");
    check.equal(await one.collect("run"), null, "a batch of nothing");
    check.equal(await one.dead(), [], "the list of dead jobs");
    check.equal(await one.add([]), 0, "the number of no jobs");
    const none = { waiting: 0, delayed: 0, leased: 0, done: 0, dead: 0, nodes: 0 };
    check.equal(await one.stats(), none, "what an empty queue tells of itself");
  },

  async "one job from end to end"({ one, other }, check) {
    const payload = { text: "ü \u2028", list: [1, null, { deep: true }] };
    check.equal(await one.add([job("a", { payload, golden: "g" })]), 1, "the number of added jobs");
    const lease = await leased(other);
    const { token, ...rest } = lease;
    check.equal(rest, { id: "a", run: "run", golden: "g", payload, attempt: 1 }, "the lease");
    check.holds(token.length > 16, "a token can be guessed");
    check.equal(await one.lease("second"), null, "a second lease of a leased job");
    await other.heartbeat(lease);
    await other.ack(lease, { score: 1 });
    await check.refused("lease_lost", "a second ack", () => other.ack(lease, { score: 0 }));
    await check.refused("lease_lost", "a nack after the ack", () => other.nack(lease, "no"));
    await check.refused("lease_lost", "a heartbeat after the ack", () => other.heartbeat(lease));
    check.equal(await one.collect("another"), null, "a batch of another run");
    const batch = await one.collect("run");
    const result = { id: "a", run: "run", result: { score: 1 }, attempt: 1 };
    check.equal(batch?.results, [result], "the results");
    check.equal(await other.collect("run"), null, "a batch of what another collector has");
    await one.settle(batch?.claim ?? "");
    await check.refused("lease_lost", "a second settlement", () => one.settle(batch?.claim ?? ""));
    check.equal(await other.collect("run"), null, "a batch of what was collected");
    check.equal((await one.stats()).done, 0, "the number of results after they were collected");
  },

  async ids({ one, other }, check) {
    check.equal(await one.add([job("a"), job("b"), job("a")]), 2, "the number of jobs, one given twice");
    check.equal(await other.add([job("a"), job("c")]), 1, "the number of new ones");
    const conflict = () => other.add([job("a", { payload: "other" })]);
    await check.refused("job_conflict", "another payload for a known id", conflict);
    const lease = await leased(one);
    await one.ack(lease, 1);
    check.equal(await one.add([job(lease.id)]), 0, "the number of new jobs after one was done");
    const batch = await one.collect("run");
    await one.settle(batch?.claim ?? "");
    check.equal(await one.add([job(lease.id)]), 0, "the number of new jobs after one was collected");
    const rest = await allLeased(one);
    check.holds(!rest.includes(lease.id) && rest.length === 2, "a job is given again after it was collected");
    for (const id of ["", "a b", "a:b", "/a", "x".repeat(257)])
      await check.refused("bad_request", `the id "${id.slice(0, 9)}"`, () => one.add([job(id)]));
    await check.refused("bad_request", "a priority of 1001", () => one.add([job("z", { priority: 1_001 })]));
    await check.refused("bad_request", "no attempts", () => one.add([job("z", { attempts: 0 })]));
    await check.refused("bad_request", "a payload that is no JSON", () =>
      one.add([job("y"), job("z", { payload: undefined })]),
    );
    check.equal((await one.stats()).waiting, 0, "what waits after jobs were refused");
  },

  async priorities({ one, other }, check) {
    await one.add([job("low"), job("mid", { priority: 5 }), job("low2")]);
    await other.add([job("high", { priority: 1_000 }), job("mid2", { priority: 5 })]);
    check.equal(await allLeased(one), ["high", "mid", "mid2", "low", "low2"], "the order of jobs");
  },

  async "leases that run out"({ one, other, advance }, check) {
    await one.add([job("a", { attempts: 3 }), job("b", { priority: 9 })]);
    const first = await leased(one);
    check.equal(first.id, "b", "the first job");
    await advance(one.leaseMs * 0.6);
    await one.heartbeat(first);
    await advance(one.leaseMs * 0.6);
    await one.heartbeat(first);
    check.equal((await leased(other)).id, "a", "the next job while a heartbeat keeps the first");
    await advance(one.leaseMs + 1);
    await check.refused("lease_lost", "a heartbeat of a lease that ran out", () => one.heartbeat(first));
    await check.refused("lease_lost", "an ack of a lease that ran out", () => one.ack(first, 1));
    const again = [await leased(other), await leased(other)];
    check.equal(again.map(({ id }) => id).sort(), ["a", "b"], "the jobs that come back");
    check.equal(
      again.map(({ attempt }) => attempt),
      [2, 2],
      "their attempts",
    );
    await check.refused("lease_lost", "an ack with the old token", () => one.ack(first, 1));
    for (const lease of again) await one.ack(lease, "second");
    const batch = await one.collect("run");
    check.equal(
      batch?.results.map(({ result }) => result),
      ["second", "second"],
      "the results of second leases",
    );
  },

  async attempts({ one, other, advance }, check) {
    await one.add([job("nacked", { attempts: 2 })]);
    check.equal(await one.nack(await leased(one), "first"), "waiting", "a job after its first nack");
    check.equal(await one.nack(await leased(other), "no machine"), "dead", "a job after its last nack");
    await one.add([job("lost", { attempts: 1 }), job("other", { run: "another", attempts: 1 })]);
    const lost = await leased(one);
    check.equal(lost.id, "lost", "the job that is to be lost");
    check.equal(await other.nack(await leased(other), "why"), "dead", "a job with one attempt");
    await advance(one.leaseMs + 1);
    check.equal(await one.lease("node"), null, "a lease where all are dead");
    const dead = await one.dead("run");
    check.equal(
      dead.map(({ id, attempts, payload }) => ({ id, attempts, payload })),
      ["nacked", "lost"].map((id, index) => ({ id, attempts: 2 - index, payload: { of: id } })),
      "the dead jobs of a run",
    );
    check.equal(dead[0]?.reason, "no machine", "the reason of a nacked job");
    check.holds(
      /lease/.test(dead[1]?.reason ?? ""),
      "the reason of a lost job does not say that its lease ran out",
    );
    check.equal((await one.dead()).length, 3, "the number of all dead jobs");
    await check.refused("lease_lost", "an ack of a dead job", () => one.ack(lost, 1));
    check.equal(await one.collect("run"), null, "the results of dead jobs");
  },

  async delays({ one, advance }, check) {
    await one.add([job("a")]);
    await one.nack(await leased(one), "later", 5_000);
    check.equal(await one.lease("node"), null, "a lease before the delay is over");
    check.equal((await one.stats()).delayed, 1, "the number of delayed jobs");
    await advance(5_001);
    check.equal((await leased(one)).attempt, 2, "the attempt after the delay");
  },

  async batches({ one, other, advance }, check) {
    await one.add(["a", "b", "c"].map((id) => job(id)));
    for (let count = 0; count < 3; count += 1) await one.ack(await leased(one), count);
    const first = await one.collect("run", 2);
    check.equal(first?.results.length, 2, "the size of a batch of at most two");
    const second = await other.collect("run", 2);
    check.equal(second?.results.length, 1, "the size of the second batch");
    await advance(claimMs + 1);
    await check.refused("lease_lost", "a settlement too late", () => one.settle(first?.claim ?? ""));
    const again = await other.collect("run");
    check.equal(again?.results.map(({ id }) => id).sort(), ["a", "b", "c"], "the batch after claims ran out");
    await other.settle(again?.claim ?? "");
    check.equal(await one.collect("run"), null, "a batch after all was settled");
    await check.refused("bad_request", "a batch of nothing at all", () => one.collect("run", 0));
  },

  async affinity({ one, other, advance }, check) {
    await one.announce({ node: "left", url: "http://127.0.0.1:1", goldens: ["g1"] });
    await other.announce({ node: "right", url: null, goldens: ["g2"] });
    const notices = [
      { node: "left", url: "http://127.0.0.1:1", goldens: ["g1"] },
      { node: "right", url: null, goldens: ["g2"] },
    ];
    check.equal(await one.nodes(), notices, "the nodes");
    const golden = (id: string, name: string | null) => job(id, { golden: name });
    await one.add([
      golden("a1", "g1"),
      golden("b2", "g2"),
      golden("c1", "g1"),
      golden("d3", "g3"),
      golden("e2", "g2"),
    ]);
    const give = async (node: string) => (await leased(one, node)).id;
    check.equal(await give("right"), "b2", "the job for the node that holds its golden");
    check.equal(
      await give("third"),
      "d3",
      "the job for a node that holds none: the golden that nobody holds",
    );
    check.equal(await give("left"), "a1", "the job for the other node");
    check.equal(await give("left"), "c1", "the next job for it");
    check.equal(await give("left"), "e2", "a job for a node without its golden, when no other waits");
    await one.add([job("x", { golden: "g2" }), job("y", { golden: "g1" }), job("z", { priority: 1 })]);
    check.equal(await give("left"), "z", "the job of a higher priority");
    await advance(patienceMs);
    check.equal(await give("left"), "x", "a job that has waited long enough");
    await advance(noticeMs);
    check.equal(await one.nodes(), [], "nodes that told nothing for long");
  },

  async runs({ one, other }, check) {
    check.equal(await one.description("run"), null, "the description of nothing");
    await one.describe("run", { tasks: 2 });
    await other.describe("run", { tasks: 3 });
    check.equal(await other.description("run"), { tasks: 2 }, "the description that came first");
    await one.add([job("a"), job("b"), job("c", { run: "another" })]);
    const lease = await leased(one);
    await other.forget("run");
    check.equal(await one.description("run"), null, "the description of a run that was forgotten");
    await check.refused("lease_lost", "an ack in a run that was forgotten", () => one.ack(lease, 1));
    check.equal(await allLeased(one), ["c"], "what is left of the queue");
    check.equal(await one.add([job("a")]), 1, "the number of jobs after their run was forgotten");
  },
};
