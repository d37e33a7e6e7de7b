/** The queue on BullMQ and Redis, for any number of hosts. */
import { randomUUID } from "node:crypto";
import { Job, Queue, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { ShinkenError } from "../../../errors/index.js";
import { claimLost, jobConflict, leaseLost, queueFailed } from "../faults.js";
import {
  descriptionJson,
  parseDelay,
  parseJob,
  parseLimit,
  parseName,
  parseNotice,
  resultJson,
  shortReason,
} from "../parse.js";
import {
  type Batch,
  claimMs,
  type DeadJob,
  defaultBatch,
  defaultLeaseMs,
  type JobQueue,
  type Lease,
  type LeaseProof,
  leaseRanOut,
  type NewJob,
  type NodeNotice,
  noticeMs,
  type QueueOptions,
  type QueueStats,
} from "../types.js";
import { preferJob } from "./affinity.js";
import { connectRedis, withoutPassword } from "./connect.js";
import { bullId, bullPriority, dataOf, type JobData, ourId } from "./data.js";
import { collectScript, settleScript } from "./scripts.js";

const queueName = "jobs";
/** Leases that ran out are looked for so often, in shares of a lease; BullMQ needs to see one twice. */
const sweepsPerLease = 4;
/** Lost leases are counted by us, with all other attempts. */
const unbounded = 1_000_000;
/** Jobs that are read at a time. */
const page = 500;
/** BullMQ's codes: no such job, no lock, not active, another's lock. */
const lostCodes: ReadonlySet<unknown> = new Set([-1, -2, -3, -6]);
const neverPlayed = "its lease could not be kept";

export interface RedisQueueOptions extends QueueOptions {
  /** Before all keys; several queues may share a Redis. `shinken` if unsaid. */
  prefix?: string | undefined;
}

/** Opens the queue in the Redis at a URL. @throws ShinkenError `queue_failed` */
export async function openRedisQueue(url: string, options: RedisQueueOptions = {}): Promise<RedisQueue> {
  return new RedisQueue(withoutPassword(url), await connectRedis(url), options);
}

export class RedisQueue implements JobQueue {
  readonly leaseMs: number;
  readonly #where: string;
  readonly #redis: Redis;
  readonly #queue: Queue<JobData, unknown>;
  /** Takes jobs when it is told to, and never by itself. */
  readonly #worker: Worker<JobData, unknown>;
  readonly #keys: string;
  readonly #now: () => number;
  /** Jobs whose lease was given here. */
  readonly #leased = new Map<string, Job<JobData, unknown>>();
  #closing: Promise<void> | undefined;

  /** Takes the connection over. */
  constructor(where: string, redis: Redis, options: RedisQueueOptions) {
    const { prefix = "shinken", leaseMs = defaultLeaseMs, now = Date.now } = options;
    this.leaseMs = leaseMs;
    this.#where = where;
    this.#redis = redis;
    this.#now = now;
    this.#keys = `${prefix}:${queueName}:`;
    const shared = { connection: redis, prefix };
    this.#queue = new Queue(queueName, { ...shared, skipMetasUpdate: true });
    this.#worker = new Worker(queueName, null, {
      ...shared,
      autorun: false,
      skipStalledCheck: true,
      skipLockRenewal: true,
      lockDuration: leaseMs,
      stalledInterval: Math.max(1, Math.floor(leaseMs / sweepsPerLease)),
      maxStalledCount: unbounded,
    });
    // Operations tell of it: they reject.
    this.#queue.on("error", () => undefined);
    this.#worker.on("error", () => undefined);
  }

  add(jobs: readonly NewJob[]): Promise<number> {
    const by = randomUUID();
    const parsed = jobs.map(parseJob);
    return this.#guard(async () => {
      // A job of the same id that is there already wins; what is there afterwards tells whether it was the same.
      const fresh = parsed.map((job) => ({
        name: job.run,
        data: dataOf(job, by),
        opts: {
          jobId: bullId(job.id),
          priority: bullPriority(job.priority),
          timestamp: this.#now(),
          stackTraceLimit: 0,
        },
      }));
      const there = await this.#data(parsed.map(({ id }) => id));
      check(parsed, there);
      const absent = fresh.filter((_, index) => there[index] === null);
      if (absent.length === 0) return 0;
      const index = this.#redis.pipeline();
      for (const { name, opts } of absent) index.sadd(this.#key("run", name), opts.jobId);
      await index.exec();
      await this.#queue.addBulk(absent);
      const now = await this.#data(parsed.map(({ id }) => id));
      check(parsed, now);
      return new Set(now.filter((data) => data?.by === by).map((data) => data?.id)).size;
    });
  }

  lease(node: string): Promise<Lease | null> {
    parseName(node);
    return this.#guard(async () => {
      await this.sweep();
      for (;;) {
        await preferJob(this.#redis, this.#queue, this.#keys, node, await this.nodes(), this.#now());
        const token = randomUUID();
        // Its type says that there is always one.
        const next: Promise<Job<JobData, unknown> | undefined> = this.#worker.getNextJob(token, {
          block: false,
        });
        const job = await next;
        if (job === undefined) return null;
        const { id, run, golden, attempts, payload } = job.data;
        if (job.attemptsStarted <= attempts) {
          this.#leased.set(token, job);
          return {
            id,
            run,
            golden,
            payload: JSON.parse(payload) as unknown,
            token,
            attempt: job.attemptsStarted,
          };
        }
        await this.#bury(job, token, leaseRanOut);
      }
    });
  }

  /** Puts jobs whose lease ran out back; told by Redis, however many ask, once in a quarter of a lease. */
  async sweep(): Promise<void> {
    await this.#worker.backend.moveStalledJobsToWait();
  }

  heartbeat({ id, token }: LeaseProof): Promise<void> {
    return this.#guard(async () => {
      const job = await this.#job(id, token);
      if ((await job.extendLock(token, this.leaseMs)) !== 1) throw this.#lost(id, token);
    });
  }

  ack({ id, token }: LeaseProof, result: unknown): Promise<void> {
    const text = resultJson(result);
    return this.#guard(async () => {
      const job = await this.#job(id, token);
      await this.#ofLease(id, token, () => job.moveToCompleted(text, token, false));
      this.#leased.delete(token);
    });
  }

  nack({ id, token }: LeaseProof, reason: string, delayMs = 0): Promise<"waiting" | "dead"> {
    const delay = parseDelay(delayMs);
    return this.#guard(async () => {
      const job = await this.#job(id, token);
      const last = job.attemptsStarted >= job.data.attempts;
      await this.#ofLease(id, token, async () => {
        if (last) await this.#bury(job, token, shortReason(reason));
        else if (delay > 0) await job.moveToDelayed(Date.now() + delay, token);
        else await job.moveToWait(token);
      });
      this.#leased.delete(token);
      return last ? "dead" : "waiting";
    });
  }

  announce(notice: NodeNotice): Promise<void> {
    const { node, url, goldens } = parseNotice(notice);
    return this.#guard(async () => {
      const text = JSON.stringify({ node, url, goldens, until: this.#now() + noticeMs });
      await this.#redis.hset(this.#key("nodes"), node, text);
    });
  }

  nodes(): Promise<NodeNotice[]> {
    return this.#guard(async () => {
      const all = await this.#redis.hgetall(this.#key("nodes"));
      const notices = Object.values(all).map((text) => JSON.parse(text) as NodeNotice & { until: number });
      const gone = notices.filter(({ until }) => until <= this.#now()).map(({ node }) => node);
      if (gone.length > 0) await this.#redis.hdel(this.#key("nodes"), ...gone);
      return notices
        .filter(({ until }) => until > this.#now())
        .map(({ node, url, goldens }) => ({ node, url, goldens }))
        .sort((a, b) => (a.node < b.node ? -1 : 1));
    });
  }

  collect(run: string, limit = defaultBatch): Promise<Batch | null> {
    parseName(run);
    const most = parseLimit(limit);
    return this.#guard(async () => {
      const claim = randomUUID();
      const keys = [`${this.#keys}completed`, this.#key("claim", claim)];
      const more = [this.#keys, this.#key("claim", ""), claim, claimMs, run, most];
      const given = (await this.#redis.eval(collectScript, keys.length, ...keys, ...more)) as string[];
      if (given.length === 0) return null;
      const results = Array.from({ length: given.length / 3 }, (_, index) => {
        const [id = "", value = "", leases] = given.slice(3 * index);
        // BullMQ writes the result as JSON, and ours is JSON already.
        const result = JSON.parse(JSON.parse(value) as string) as unknown;
        return { id: ourId(id), run, result, attempt: Number(leases) };
      });
      return { claim, results };
    });
  }

  settle(claim: string): Promise<void> {
    return this.#guard(async () => {
      const keys = [`${this.#keys}completed`, this.#key("claim", claim)];
      const settled = await this.#redis.eval(settleScript, keys.length, ...keys, this.#keys);
      if (settled === 0) throw claimLost();
    });
  }

  dead(run?: string): Promise<DeadJob[]> {
    return this.#guard(async () => {
      const found: DeadJob[] = [];
      for (let from = 0; ; from += page) {
        const jobs = await this.#queue.getFailed(from, from + page - 1);
        for (const job of jobs) {
          if (run !== undefined && job.data.run !== run) continue;
          const { id, payload, attempts: most } = job.data;
          const attempts = Math.min(job.attemptsStarted, most);
          found.push({
            id,
            run: job.data.run,
            payload: JSON.parse(payload) as unknown,
            attempts,
            reason: job.failedReason,
          });
        }
        if (jobs.length < page) return found.reverse();
      }
    });
  }

  describe(run: string, description: unknown): Promise<void> {
    parseName(run);
    const text = descriptionJson(description);
    return this.#guard(async () => {
      await this.#redis.hsetnx(this.#key("runs"), run, text);
    });
  }

  description(run: string): Promise<unknown> {
    return this.#guard(async () => {
      const text = await this.#redis.hget(this.#key("runs"), run);
      return text === null ? null : (JSON.parse(text) as unknown);
    });
  }

  forget(run: string): Promise<void> {
    return this.#guard(async () => {
      const ids = await this.#redis.smembers(this.#key("run", run));
      for (const id of ids) {
        // Whoever holds its lease has lost it.
        await this.#redis.del(`${this.#keys}${id}:lock`);
        const job = await Job.fromId<JobData, unknown>(this.#queue, id);
        await job?.remove();
        await this.#redis.del(`${this.#keys}${id}`);
      }
      await this.#redis.del(this.#key("run", run));
      await this.#redis.hdel(this.#key("runs"), run);
    });
  }

  stats(): Promise<QueueStats> {
    return this.#guard(async () => {
      const counts = await this.#queue.getJobCounts();
      const of = (state: string): number => counts[state] ?? 0;
      return {
        waiting: of("wait") + of("prioritized"),
        delayed: of("delayed"),
        leased: of("active"),
        done: of("completed"),
        dead: of("failed"),
        nodes: (await this.nodes()).length,
      };
    });
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#worker.close(true);
      await this.#queue.close();
      this.#redis.disconnect();
    })();
    return this.#closing;
  }

  /** Keys of our own stand beside BullMQ's; its own never begin with `own`. */
  #key(kind: string, name = ""): string {
    return `${this.#keys}own:${kind}:${name}`;
  }

  /** What BullMQ holds of jobs, by our ids; null where there is none. */
  async #data(ids: readonly string[]): Promise<(JobData | null)[]> {
    const reading = this.#redis.pipeline();
    for (const id of ids) reading.hget(`${this.#keys}${bullId(id)}`, "data");
    const read = (await reading.exec()) ?? [];
    return read.map(([error, text]) => {
      if (error !== null) throw error;
      return typeof text === "string" ? (JSON.parse(text) as JobData) : null;
    });
  }

  /** A lease that another process was given can be answered for here, too. */
  async #job(id: string, token: string): Promise<Job<JobData, unknown>> {
    const job = this.#leased.get(token) ?? (await Job.fromId<JobData, unknown>(this.#queue, bullId(id)));
    if (job === undefined || job.data.id !== id) throw this.#lost(id, token);
    return job;
  }

  async #bury(job: Job<JobData, unknown>, token: string, reason: string): Promise<void> {
    await job.moveToFailed(new UnrecoverableError(reason || neverPlayed), token, false);
  }

  /** BullMQ refuses what is not locked with that token. @throws ShinkenError `lease_lost` */
  async #ofLease(id: string, token: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (lostCodes.has((error as { code?: unknown }).code)) throw this.#lost(id, token);
      throw error;
    }
  }

  #lost(id: string, token: string): ShinkenError {
    this.#leased.delete(token);
    return leaseLost(id);
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof ShinkenError ? error : queueFailed(this.#where, error);
    }
  }
}

/** Throws `job_conflict` where an id stands for something else. */
function check(
  jobs: readonly { id: string; run: string; payload: string }[],
  there: (JobData | null)[],
): void {
  for (const [index, { id, run, payload }] of jobs.entries()) {
    const known = there[index];
    if (known && (known.run !== run || known.payload !== payload)) throw jobConflict(id);
  }
}
