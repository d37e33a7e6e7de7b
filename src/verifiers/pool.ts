/** The verifier threads of this process: one pool, made when first needed, closed on request. */
import { Piscina } from "piscina";
import type { GroundAssertion } from "./assertions/ground.js";
import {
  type SqliteJob,
  type SqliteQuestion,
  type SqliteReply,
  type SqliteResult,
  unpack,
} from "./channels/sqlite/engine.js";
import type { DatabaseFiles } from "./channels/sqlite/open.js";
import { Progress } from "./channels/sqlite/progress.js";
import type { ParsedQuery } from "./channels/parsers.js";
import { closeCodePool, codeThreads } from "./code/pool.js";
import { type Answer, ContentFault, type Judgement } from "./value.js";
import type { Json } from "./assertions/json-value.js";
import type { ScorerReply } from "./scorer/library.js";
import type { Job, Reply } from "./worker.js";
import { workerFile } from "./worker-file.js";

const MAX_THREADS = 2;
/** A thread without work leaves after this many milliseconds. */
const IDLE_MS = 30_000;
/** Jobs that may wait; a session grades at most a few thousand checks. */
const MAX_QUEUE = 10_000;
/** MiB of JavaScript heap of one thread. */
const HEAP_MIB = 512;

let pool: Piscina | undefined;
let made = 0;
let jobs = 0;

function threads(): Piscina {
  if (pool === undefined) {
    pool = new Piscina({
      filename: workerFile("worker.js"),
      minThreads: 0,
      maxThreads: MAX_THREADS,
      maxQueue: MAX_QUEUE,
      idleTimeout: IDLE_MS,
      // The default blocks an idle thread's event loop, and with it the engine that is made ahead of the next query.
      atomics: "disabled",
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    made++;
  }
  return pool;
}

async function run<T>(job: Job, signal?: AbortSignal): Promise<T> {
  jobs++;
  const reply = (await threads().run(job, signal === undefined ? {} : { signal })) as Reply;
  if ("fault" in reply) throw new ContentFault(reply.fault);
  return reply.ok as T;
}

/** Judges in a thread. `signal` ends the thread in mid-work; rejects with `ContentFault` or the signal's reason. */
export function judgeInPool(
  assertion: GroundAssertion,
  answer: Answer,
  signal?: AbortSignal,
): Promise<Judgement> {
  return run<Judgement>({ do: "judge", assertion, answer }, signal);
}

/** Parses a file in a thread. */
export function parseInPool(
  bytes: Uint8Array,
  query: ParsedQuery,
  what: string,
  signal?: AbortSignal,
): Promise<Answer> {
  return run<Answer>({ do: "parse", bytes, query, what }, signal);
}

/** Queries a copied database in a thread. */
export async function sqliteInPool(job: SqliteJob, signal?: AbortSignal): Promise<SqliteResult> {
  const { sql, bind, ...files } = job;
  const [reply] = await databaseInPool(files, [{ sql, bind }], new Progress(), signal);
  return unpack(reply as SqliteReply);
}

/** As `sqliteInPool`, several queries of one database: replies of those that the thread came to, the first at least. */
export function databaseInPool(
  files: DatabaseFiles,
  questions: SqliteQuestion[],
  progress: Progress,
  signal?: AbortSignal,
): Promise<SqliteReply[]> {
  return run<SqliteReply[]>({ do: "sqlite", files, questions, progress: progress.shared }, signal);
}

/** Scores in a thread; `file` is a library's. */
export function scoreInPool(
  file: string,
  id: string,
  input: Json,
  signal?: AbortSignal,
): Promise<ScorerReply> {
  return run<ScorerReply>({ do: "score", file, id, input }, signal);
}

/** Starts the threads and their SQLite ahead of the first verdict, so that no session waits for them. */
export async function warmPool(): Promise<void> {
  const job: SqliteJob = { database: new Uint8Array(), log: null, journal: null, sql: "SELECT 1" };
  await Promise.all(Array.from({ length: MAX_THREADS }, () => sqliteInPool(job)));
}

/** Counts for metrics and tests. */
export function poolStats(): { open: boolean; threads: number; made: number; jobs: number } {
  return { open: pool !== undefined, threads: (pool?.threads.length ?? 0) + codeThreads(), made, jobs };
}

/** Ends all threads; running jobs are given up. The next job makes a new pool. Idempotent. */
export async function closePool(): Promise<void> {
  const closing = pool;
  pool = undefined;
  await Promise.all([closing?.destroy(), closeCodePool()]);
}
