/** Threads of code nodes, apart from those that parse: a module waits for its reads, and these may wait for a parser. */
import { Piscina } from "piscina";
import { workerFile } from "../worker-file.js";
import type { CodeJob, CodeReply } from "./protocol.js";

const MAX_THREADS = 2;
/** A thread without work leaves after this many milliseconds. */
const IDLE_MS = 30_000;
/** Jobs that may wait. */
const MAX_QUEUE = 1_000;
/** MiB of JavaScript heap beside the engine's own memory: sources, answers and the compiler. */
const HEAP_MIB = 256;

let pool: Piscina | undefined;

/** Runs a module in a thread. `signal` ends the thread in mid-work; then it rejects with the signal's reason. */
export async function runInPool(job: CodeJob, signal: AbortSignal): Promise<CodeReply> {
  pool ??= new Piscina({
    filename: workerFile("code/worker.js"),
    minThreads: 0,
    maxThreads: MAX_THREADS,
    maxQueue: MAX_QUEUE,
    idleTimeout: IDLE_MS,
    atomics: "disabled",
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  return (await pool.run(job, { signal, transferList: [job.port] })) as CodeReply;
}

/** Ends all threads. The next job makes a new pool. Idempotent. */
export async function closeCodePool(): Promise<void> {
  const closing = pool;
  pool = undefined;
  await closing?.destroy();
}

/** Threads that are there now. */
export function codeThreads(): number {
  return pool?.threads.length ?? 0;
}
