/** The queue in one SQLite file, for any number of processes of one host. */
/* eslint-disable @typescript-eslint/require-await -- SQLite answers at once; what it refuses is to reject and not to throw */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { affinityWindow, type Candidate, heldBy, preferred } from "../affinity.js";
import { claimLost, jobConflict, leaseLost } from "../faults.js";
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
import { type Connection, guarded, openFile } from "./open.js";

type Statement = ReturnType<Connection["prepare"]>;
type Values = Readonly<Record<string, string | number | null>>;

interface WaitingRow extends Candidate {
  id: string;
  run: string;
  payload: string;
  attempts: number;
}

/** Opens the queue at a path. @throws ShinkenError `queue_failed` */
export function openSqliteQueue(path: string, options: QueueOptions = {}): JobQueue {
  const full = resolve(path);
  return new SqliteQueue(full, openFile(full), options);
}

class SqliteQueue implements JobQueue {
  readonly leaseMs: number;
  readonly #path: string;
  readonly #database: Connection;
  readonly #now: () => number;
  readonly #prepared = new Map<string, Statement>();

  /** Takes the connection over. */
  constructor(path: string, database: Connection, options: QueueOptions) {
    this.#path = path;
    this.#database = database;
    this.#now = options.now ?? Date.now;
    this.leaseMs = options.leaseMs ?? defaultLeaseMs;
  }

  async add(jobs: readonly NewJob[]): Promise<number> {
    const parsed = jobs.map(parseJob);
    return this.#write((now) => {
      let added = 0;
      for (const job of parsed) {
        const { changes } = this.#run(
          `INSERT INTO jobs (id, run, golden, priority, max_attempts, payload, state, since_ms)
            VALUES (@id, @run, @golden, @priority, @attempts, @payload, 'waiting', @now) ON CONFLICT (id) DO NOTHING`,
          { ...job, now },
        );
        added += changes;
        const same = `SELECT 1 AS same FROM jobs WHERE id = @id AND run = @run AND payload = @payload`;
        const { id, run, payload } = job;
        if (changes === 0 && this.#all(same, { id, run, payload }).length === 0) throw jobConflict(id);
      }
      return added;
    });
  }

  async lease(node: string): Promise<Lease | null> {
    parseName(node);
    return this.#write((now) => {
      const rows = this.#all<WaitingRow>(
        `SELECT id, run, golden, payload, attempts, since_ms AS sinceMs FROM jobs WHERE state = 'waiting'
          AND (first, priority) = (SELECT first, priority FROM jobs WHERE state = 'waiting' ORDER BY first DESC, priority DESC LIMIT 1)
          ORDER BY first DESC, priority DESC, seq LIMIT ${affinityWindow}`,
      );
      const { mine, others } = heldBy(node, this.#nodes(now));
      const row = rows[preferred(rows, mine, others, now)];
      if (row === undefined) return null;
      const token = randomUUID();
      const { id, run, golden, payload, attempts } = row;
      this.#run(
        `UPDATE jobs SET state = 'leased', first = 0, attempts = attempts + 1, token = @token, until_ms = @until WHERE id = @id`,
        { id, token, until: now + this.leaseMs },
      );
      return { id, run, golden, payload: JSON.parse(payload) as unknown, token, attempt: attempts + 1 };
    });
  }

  async heartbeat({ id, token }: LeaseProof): Promise<void> {
    this.#write((now) => {
      this.#ofLease(`UPDATE jobs SET until_ms = @until WHERE`, id, token, { until: now + this.leaseMs });
    });
  }

  async ack({ id, token }: LeaseProof, result: unknown): Promise<void> {
    const text = resultJson(result);
    this.#write(() => {
      this.#ofLease(
        `UPDATE jobs SET state = 'done', token = NULL, until_ms = NULL, result = @text WHERE`,
        id,
        token,
        { text },
      );
    });
  }

  async nack({ id, token }: LeaseProof, reason: string, delayMs = 0): Promise<"waiting" | "dead"> {
    const delay = parseDelay(delayMs);
    return this.#write((now) => {
      this.#ofLease(
        `UPDATE jobs SET state = CASE WHEN attempts >= max_attempts THEN 'dead' WHEN @delay > 0 THEN 'delayed' ELSE 'waiting' END,
          token = NULL, until_ms = @now + @delay, since_ms = @now + @delay, reason = @reason WHERE`,
        id,
        token,
        { now, delay, reason: shortReason(reason) },
      );
      const [row] = this.#all<{ state: string }>("SELECT state FROM jobs WHERE id = @id", { id });
      return row?.state === "dead" ? "dead" : "waiting";
    });
  }

  async announce(notice: NodeNotice): Promise<void> {
    const { node, url, goldens } = parseNotice(notice);
    this.#write((now) => {
      this.#run("DELETE FROM nodes WHERE until_ms <= @now", { now });
      this.#run("INSERT OR REPLACE INTO nodes VALUES (@node, @url, @goldens, @until)", {
        node,
        url,
        goldens: JSON.stringify(goldens),
        until: now + noticeMs,
      });
    });
  }

  async nodes(): Promise<NodeNotice[]> {
    return guarded(this.#path, () => this.#nodes(this.#now()));
  }

  async collect(run: string, limit = defaultBatch): Promise<Batch | null> {
    parseName(run);
    const most = parseLimit(limit);
    return this.#write((now) => {
      const claim = randomUUID();
      const { changes } = this.#run(
        `UPDATE jobs SET claim = @claim, claim_until_ms = @until WHERE seq IN (SELECT seq FROM jobs WHERE state = 'done' AND run = @run
          AND (claim IS NULL OR claim_until_ms <= @now) ORDER BY seq LIMIT @most)`,
        { claim, until: now + claimMs, run, now, most },
      );
      if (changes === 0) return null;
      const rows = this.#all<{ id: string; result: string; attempts: number }>(
        "SELECT id, result, attempts FROM jobs WHERE claim = @claim ORDER BY seq",
        { claim },
      );
      const results = rows.map(({ id, result, attempts: attempt }) => {
        return { id, run, result: JSON.parse(result) as unknown, attempt };
      });
      return { claim, results };
    });
  }

  async settle(claim: string): Promise<void> {
    this.#write((now) => {
      const { changes } = this.#run(
        `UPDATE jobs SET state = 'collected', result = NULL, claim = NULL, claim_until_ms = NULL
          WHERE claim = @claim AND claim_until_ms > @now`,
        { claim, now },
      );
      if (changes === 0) throw claimLost();
    });
  }

  async dead(run?: string): Promise<DeadJob[]> {
    return this.#write(() =>
      this.#all<Omit<DeadJob, "payload"> & { payload: string }>(
        `SELECT id, run, payload, attempts, reason FROM jobs WHERE state = 'dead' AND (@run IS NULL OR run = @run) ORDER BY seq`,
        { run: run ?? null },
      ).map((row) => ({ ...row, payload: JSON.parse(row.payload) as unknown })),
    );
  }

  async describe(run: string, description: unknown): Promise<void> {
    parseName(run);
    const text = descriptionJson(description);
    this.#write(() => this.#run("INSERT OR IGNORE INTO runs VALUES (@run, @text)", { run, text }));
  }

  async description(run: string): Promise<unknown> {
    const sql = "SELECT description FROM runs WHERE run = @run";
    const [row] = guarded(this.#path, () => this.#all<{ description: string }>(sql, { run }));
    return row === undefined ? null : JSON.parse(row.description);
  }

  async forget(run: string): Promise<void> {
    this.#write(() => {
      this.#run("DELETE FROM jobs WHERE run = @run", { run });
      this.#run("DELETE FROM runs WHERE run = @run", { run });
    });
  }

  async stats(): Promise<QueueStats> {
    return this.#write((now) => {
      const rows = this.#all<{ state: string; n: number }>(
        "SELECT state, count(*) AS n FROM jobs GROUP BY state",
      );
      const count = (state: string): number => rows.find((row) => row.state === state)?.n ?? 0;
      return {
        waiting: count("waiting"),
        delayed: count("delayed"),
        leased: count("leased"),
        done: count("done"),
        dead: count("dead"),
        nodes: this.#nodes(now).length,
      };
    });
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  #nodes(now: number): NodeNotice[] {
    const sql = "SELECT node, url, goldens FROM nodes WHERE until_ms > @now ORDER BY node";
    return this.#all<{ node: string; url: string | null; goldens: string }>(sql, { now }).map((row) => {
      return { ...row, goldens: JSON.parse(row.goldens) as string[] };
    });
  }

  /** Changes a job that is leased with that token. @throws ShinkenError `lease_lost` */
  #ofLease(update: string, id: string, token: string, values: Values): void {
    const sql = `${update} id = @id AND state = 'leased' AND token = @token`;
    if (this.#run(sql, { ...values, id, token }).changes === 0) throw leaseLost(id);
  }

  /** In a transaction of its own, after what time has done: leases that ran out, delays that are over. */
  #write<T>(work: (now: number) => T): T {
    return guarded(this.#path, () =>
      this.#database
        .transaction(() => {
          const now = this.#now();
          this.#run(
            `UPDATE jobs SET first = (state = 'leased' AND attempts < max_attempts), reason = CASE state WHEN 'leased' THEN @ranOut ELSE reason END,
              since_ms = until_ms, token = NULL, until_ms = NULL,
              state = CASE WHEN state = 'leased' AND attempts >= max_attempts THEN 'dead' ELSE 'waiting' END
              WHERE state IN ('leased', 'delayed') AND until_ms <= @now`,
            { now, ranOut: leaseRanOut },
          );
          return work(now);
        })
        .immediate(),
    );
  }

  #run(sql: string, values: Values = {}): { changes: number } {
    return this.#statement(sql).run(values);
  }

  #all<Row>(sql: string, values: Values = {}): Row[] {
    return this.#statement(sql).all(values) as Row[];
  }

  #statement(sql: string): Statement {
    const known = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, known);
    return known;
  }
}
