/** What a queue costs a job: leases and acks of many processes' worth of handles on one queue. Compiled with the other benchmarks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JobQueue, openQueue } from "../src/rollout/queue/index.js";
import { spread } from "./statistics.js";

interface QueueCost {
  queue: string;
  jobs: number;
  handles: number;
  jobs_per_s: number;
  lease_ms: { p50: number; p99: number };
  ack_ms: { p50: number; p99: number };
}

const jobs = 2_000;

/** One handle after another takes and answers for jobs until none is left. */
async function measure(address: string, handles: number): Promise<QueueCost> {
  const queues: JobQueue[] = [];
  for (let at = 0; at < handles; at += 1) queues.push(await openQueue(address));
  const [first] = queues as [JobQueue];
  const run = `bench-${Date.now()}`;
  try {
    await first.add(
      Array.from({ length: jobs }, (_, at) => ({
        id: `${run}/${at}`,
        run,
        golden: `g${at % 11}`,
        payload: { task: `task-${at % 11}`, replica: at },
      })),
    );
    const [lease, ack]: [number[], number[]] = [[], []];
    const began = performance.now();
    const one = async (queue: JobQueue, node: string): Promise<void> => {
      for (;;) {
        const asked = performance.now();
        const job = await queue.lease(node);
        if (job === null) return;
        const given = performance.now();
        await queue.ack(job, { status: "graded", score: 1 });
        lease.push(given - asked);
        ack.push(performance.now() - given);
      }
    };
    await Promise.all(queues.map((queue, at) => one(queue, `node-${at}`)));
    const seconds = (performance.now() - began) / 1_000;
    const rate = Math.round(jobs / seconds);
    const kind = address.slice(0, address.indexOf(":"));
    return { queue: kind, jobs, handles, jobs_per_s: rate, lease_ms: spread(lease), ack_ms: spread(ack) };
  } finally {
    await first.forget(run);
    for (const queue of queues) await queue.close();
  }
}

/** `node build/benchmarks/benchmarks/queue.js [redis://HOST:PORT]`: the queue in a SQLite file, and the one in that Redis. */
async function main(redis: string | undefined): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "shinken-bench-queue-"));
  try {
    for (const handles of [1, 4]) {
      const addresses = [`sqlite:${join(folder, "queue.db")}`, ...(redis === undefined ? [] : [redis])];
      for (const address of addresses)
        process.stdout.write(`${JSON.stringify(await measure(address, handles))}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(process.argv[2]);
