/** What a queue must do, said simply: jobs in a list, and a clock. It knows which jobs may be given next, and not which one affinity chooses. */
import { expect } from "vitest";
import { ShinkenError } from "../../../src/errors/index.js";
import type { QueueBench } from "../../../src/rollout/queue/conformance/index.js";
import { claimMs, type Batch, type Lease } from "../../../src/rollout/queue/index.js";

export type Operation =
  | { do: "add"; job: number; priority: number; attempts: number }
  | { do: "lease"; node: number; handle: number }
  | { do: "heartbeat" | "ack" | "nack"; lease: number; handle: number; delay: number }
  | { do: "advance"; share: number }
  | { do: "collect"; handle: number; limit: number }
  | { do: "settle"; batch: number; handle: number };

interface ModelJob {
  state: "waiting" | "leased" | "done" | "collected" | "dead";
  priority: number;
  left: number;
  /** Its lease ran out. */
  first: boolean;
  /** End of its delay, lease or claim. */
  until: number;
  token: string | null;
  claim: string | null;
  acks: number;
}

const goldens = ["g0", "g1", "g2"];

export class Model {
  private readonly bench: QueueBench;
  private readonly jobs = new Map<string, ModelJob>();
  private readonly leases: Lease[] = [];
  private readonly batches: Batch[] = [];
  private readonly collected: string[] = [];
  private now = 0;

  constructor(bench: QueueBench) {
    this.bench = bench;
  }

  async run(operations: readonly Operation[]): Promise<void> {
    for (const node of [0, 1])
      await this.bench.one.announce({ node: `n${node}`, url: null, goldens: [goldens[node] ?? ""] });
    for (const operation of operations) await this.step(operation);
    await this.finish();
  }

  private handle(number: number) {
    return number === 0 ? this.bench.one : this.bench.other;
  }

  private async step(operation: Operation): Promise<void> {
    switch (operation.do) {
      case "add":
        return this.add(operation);
      case "lease":
        return this.lease(operation);
      case "advance":
        return this.advance(Math.round(operation.share * this.bench.one.leaseMs));
      case "collect":
        return this.collect(operation);
      case "settle":
        return this.settle(operation);
      default:
        return this.answer(operation);
    }
  }

  private async add({ job, priority, attempts }: Operation & { do: "add" }): Promise<void> {
    const id = `job/${job}`;
    const golden = goldens[job % 4] ?? null;
    const added = await this.bench.one.add([{ id, run: "run", golden, priority, attempts, payload: job }]);
    expect(added).toBe(this.jobs.has(id) ? 0 : 1);
    if (added === 0) return;
    const state = "waiting";
    const nothing = { first: false, until: 0, token: null, claim: null, acks: 0 };
    this.jobs.set(id, { state, priority, left: attempts, ...nothing });
  }

  private async lease({ node, handle }: Operation & { do: "lease" }): Promise<void> {
    const ready = [...this.jobs].filter(([, job]) => job.state === "waiting" && job.until <= this.now);
    const before = ready.filter(([, job]) => job.first);
    const best = before.length > 0 ? before : ready;
    const top = Math.max(...best.map(([, job]) => job.priority));
    // Redis gives jobs whose lease ran out back in any order.
    const allowed = best.filter(([, job]) => before.length > 0 || job.priority === top).map(([id]) => id);
    const lease = await this.handle(handle).lease(`n${node}`);
    if (lease === null) {
      expect(allowed).toEqual([]);
      return;
    }
    expect(allowed).toContain(lease.id);
    const job = this.jobs.get(lease.id) as ModelJob;
    const until = this.now + this.bench.one.leaseMs;
    Object.assign(job, { state: "leased", first: false, left: job.left - 1, token: lease.token, until });
    this.leases.push(lease);
  }

  private async answer(operation: Operation & { do: "heartbeat" | "ack" | "nack" }): Promise<void> {
    const lease = this.leases[operation.lease % Math.max(1, this.leases.length)];
    if (lease === undefined) return;
    const job = this.jobs.get(lease.id) as ModelJob;
    const mine = job.state === "leased" && job.token === lease.token;
    const queue = this.handle(operation.handle);
    const work = (): Promise<unknown> => {
      if (operation.do === "heartbeat") return queue.heartbeat(lease);
      if (operation.do === "ack") return queue.ack(lease, lease.token);
      return queue.nack(lease, "a reason", operation.delay);
    };
    if (!mine) {
      expect(await codeOf(work())).toBe("lease_lost");
      return;
    }
    const given = await work();
    if (operation.do === "heartbeat") job.until = this.now + this.bench.one.leaseMs;
    else if (operation.do === "ack") Object.assign(job, { state: "done", until: 0, acks: job.acks + 1 });
    else {
      job.state = job.left > 0 ? "waiting" : "dead";
      job.until = this.now + operation.delay;
      expect(given).toBe(job.state);
    }
  }

  private async advance(ms: number): Promise<void> {
    this.now += ms;
    await this.bench.advance(ms);
    for (const job of this.jobs.values()) {
      if (job.state !== "leased" || job.until > this.now) continue;
      job.state = job.left > 0 ? "waiting" : "dead";
      job.first = job.left > 0;
    }
  }

  private async collect({ handle, limit }: Operation & { do: "collect" }): Promise<void> {
    const free = [...this.jobs].filter(
      ([, job]) => job.state === "done" && (job.claim === null || job.until <= this.now),
    );
    const batch = await this.handle(handle).collect("run", limit);
    expect(batch?.results.length ?? 0).toBe(Math.min(limit, free.length));
    if (batch === null) return;
    for (const { id, result } of batch.results) {
      expect(free.map(([known]) => known)).toContain(id);
      const job = this.jobs.get(id) as ModelJob;
      expect(result).toBe(job.token);
      Object.assign(job, { claim: batch.claim, until: this.now + claimMs });
    }
    this.batches.push(batch);
  }

  private async settle({ batch: number, handle }: Operation & { do: "settle" }): Promise<void> {
    const batch = this.batches[number % Math.max(1, this.batches.length)];
    if (batch === undefined) return;
    const jobs = batch.results.map(({ id }) => this.jobs.get(id) as ModelJob);
    const mine = jobs.every(
      (job) => job.state === "done" && job.claim === batch.claim && job.until > this.now,
    );
    const settled = await codeOf(this.handle(handle).settle(batch.claim));
    expect(settled).toBe(mine ? "" : "lease_lost");
    if (!mine) return;
    for (const job of jobs) job.state = "collected";
    this.collected.push(...batch.results.map(({ id }) => id));
  }

  /** Whatever happened, every job ends once: collected, or dead with a reason. */
  private async finish(): Promise<void> {
    const { one } = this.bench;
    await this.advance(one.leaseMs + claimMs);
    for (let lease = await one.lease("n0"); lease !== null; lease = await one.lease("n0")) {
      await one.ack(lease, lease.token);
      const job = this.jobs.get(lease.id) as ModelJob;
      expect(job.state).toBe("waiting");
      Object.assign(job, { state: "done", acks: job.acks + 1 });
    }
    const batch = await one.collect("run", 1_000);
    if (batch !== null) await one.settle(batch.claim);
    this.collected.push(...(batch?.results ?? []).map(({ id }) => id));
    const dead = await one.dead("run");
    expect(dead.every(({ reason }) => reason !== "")).toBe(true);
    const ended = [...this.collected, ...dead.map(({ id }) => id)];
    expect(ended.sort()).toEqual([...this.jobs.keys()].sort());
    expect([...this.jobs.values()].every(({ acks }) => acks <= 1)).toBe(true);
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "";
  } catch (error) {
    if (error instanceof ShinkenError) return error.code;
    throw error;
  }
}
