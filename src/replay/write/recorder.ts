/**
 * The recorder of a process: sessions hand it events, a thread of its own writes them. Handing over costs a step a message between
 * threads, sent once for all sessions of one turn of the event loop; values that were handed over must not be changed afterwards.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { ShinkenError } from "../../errors/index.js";
import { Recording } from "./recording.js";
import {
  type Batch,
  cells,
  isReached,
  type RecorderReply,
  type RecorderRequest,
  type ThreadData,
} from "./requests.js";
import { workerFile } from "./worker-file.js";

export interface RecorderOptions {
  /** Folder of bundles; made if it is not there. */
  folder: string;
  /** Name and version of the program. */
  runtime: string;
  /** Values that must not enter any bundle: tokens, keys. */
  secrets?: readonly string[];
  /** Bytes that the folder may hold: beyond, the oldest finished bundles go. Unsaid: nothing is ever removed. */
  budgetBytes?: number | undefined;
  /** After so long without getting anywhere the disk is given up, and recording with it. Milliseconds; 30,000 if unsaid. */
  stallMs?: number | undefined;
  /** Keep the machines in which episodes end, too: some hundred KiB each, and whatever their memory holds. */
  states?: boolean | undefined;
}

export interface RecorderStats {
  /** Bundles that are being written. */
  open: number;
  finished: number;
  /** Bundles that stopped for a fault. */
  failed: number;
  /** Bytes of the finished ones, without blobs. */
  bytes: number;
  /** Requests that the thread has not served yet. */
  queued: number;
}

/** The thread and the memory that it shares with this one. */
interface Thread {
  worker: Worker;
  cells: Int32Array;
}

/** What the episodes of a session and of its branches share: what was secret in one of them. */
export class RecordedSession {
  readonly number: number;
  readonly #forget: (number: number) => void;
  #holders = 1;

  constructor(number: number, forget: (number: number) => void) {
    this.number = number;
    this.#forget = forget;
  }

  /** For a branch. */
  hold(): this {
    this.#holders += 1;
    return this;
  }

  /** Once for each holder. */
  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#forget(this.number);
  }
}

export class Recorder {
  readonly folder: string;
  readonly runtime: string;
  /** Whether the machines in which episodes end are kept. */
  readonly states: boolean;
  readonly #secrets: string[];
  readonly #budgetBytes: number | null;
  readonly #stallMs: number;
  #thread: Thread | null = null;
  #watch: NodeJS.Timeout | null = null;
  readonly #recordings = new Map<number, Recording>();
  readonly #waiting = new Set<Recording>();
  #queue: RecorderRequest[] = [];
  /** Of the latest request, modulo 2^32. */
  #number = 0;
  #scheduled = false;
  #closing: Promise<void> | null = null;
  /** Told by the thread that it may end. */
  #stopped: () => void = () => undefined;
  #next = 1;
  readonly #stats = { finished: 0, failed: 0, bytes: 0 };

  /** @throws ShinkenError `recording_failed` if the folder cannot be made. */
  constructor(options: RecorderOptions) {
    this.folder = options.folder;
    this.runtime = options.runtime;
    this.states = options.states === true;
    this.#secrets = (options.secrets ?? []).filter((secret) => secret !== "");
    this.#budgetBytes = options.budgetBytes ?? null;
    this.#stallMs = options.stallMs ?? 30_000;
    try {
      mkdirSync(options.folder, { recursive: true });
    } catch (cause) {
      throw new ShinkenError(
        "recording_failed",
        `${options.folder} cannot be made: ${(cause as Error).message}`,
        {
          suggestion: "name another folder, or record nothing",
          cause,
        },
      );
    }
  }

  stats(): RecorderStats {
    const reached = this.#thread === null ? this.#number : Atomics.load(this.#thread.cells, cells.reached);
    return { open: this.#recordings.size, ...this.#stats, queued: Math.max(0, (this.#number - reached) | 0) };
  }

  /** A session, whose number no bundle has. Whoever holds it calls `release` when it has recorded its last episode. */
  session(): RecordedSession {
    return new RecordedSession(this.#next++, (id) => {
      if (this.#closing === null && this.#thread !== null) this.#send({ kind: "forget", id });
    });
  }

  /** Begins the bundle of an episode. Never throws: a fault is told to the recording's listener. */
  open(options: {
    task: string;
    secrets?: readonly string[] | undefined;
    variables?: readonly string[] | undefined;
    /** What was secret in one episode of a session is so in all; one of its own if unsaid. */
    session?: RecordedSession | undefined;
  }): Recording {
    const id = this.#next++;
    const episode = randomUUID();
    const file = fileName(options.task, episode);
    const recording = new Recording({
      id,
      episode,
      file,
      host: {
        send: (request) => this.#send(request),
        isServed: (number) => this.#isServed(number),
        await: (waiting) => {
          this.#await(waiting);
        },
      },
    });
    if (this.#closing !== null) {
      recording.fail(new ShinkenError("recording_failed", "the recorder was closed"));
      return recording;
    }
    this.#recordings.set(id, recording);
    this.#hold();
    const secrets = {
      values: [...this.#secrets, ...(options.secrets ?? [])],
      variables: [...(options.variables ?? [])],
    };
    const session = options.session?.number ?? id;
    this.#send({ kind: "open", id, folder: this.folder, file, runtime: this.runtime, secrets, session });
    return recording;
  }

  /** Finishes every bundle and ends the thread. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([...this.#recordings.values()].map((recording) => recording.finish()));
      this.#post();
      await this.#stop();
      const thread = this.#thread;
      this.#thread = null;
      await thread?.worker.terminate();
    })();
    return this.#closing;
  }

  /** A thread that is ended while it prunes leaves a lock that looks like a living process's. A disk that hangs is not waited for. */
  async #stop(): Promise<void> {
    const thread = this.#thread;
    if (thread === null) return;
    thread.worker.ref();
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, this.#stallMs);
      this.#stopped = () => {
        clearTimeout(late);
        resolve();
      };
      thread.worker.once("exit", this.#stopped);
      this.#send({ kind: "stop", id: 0 });
    });
  }

  #send(request: RecorderRequest): number {
    this.#queue.push(request);
    this.#number = (this.#number + 1) | 0;
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(() => {
        this.#post();
      });
    }
    return this.#number;
  }

  #post(): void {
    this.#scheduled = false;
    const requests = this.#queue;
    if (requests.length === 0) return;
    this.#queue = [];
    const first = (this.#number - requests.length + 1) | 0;
    try {
      this.#running(first).worker.postMessage({ first, requests } satisfies Batch);
    } catch {
      // Something in it cannot be cloned: only its own recording pays for that.
      for (const [at, request] of requests.entries()) this.#postOne((first + at) | 0, request);
    }
  }

  #postOne(first: number, request: RecorderRequest): void {
    const id = idOf(request);
    if (!this.#recordings.has(id) && isOf(request)) return;
    try {
      this.#running(first).worker.postMessage({ first, requests: [request] } satisfies Batch);
    } catch (error) {
      this.#fail(id, "recording_failed", String(error));
      // The thread still holds its file.
      if (this.#thread !== null) this.#send({ kind: "abandon", id });
    }
  }

  #isServed(number: number): boolean {
    return this.#thread !== null && isReached(Atomics.load(this.#thread.cells, cells.reached), number);
  }

  /** Asks for a message once the thread gets further; looks again, since it may have got there meanwhile. */
  #await(recording: Recording): void {
    this.#waiting.add(recording);
    if (this.#thread === null) return;
    Atomics.store(this.#thread.cells, cells.awaited, 1);
    if (!recording.look()) this.#waiting.delete(recording);
  }

  #look(): void {
    for (const recording of this.#waiting) if (!recording.look()) this.#waiting.delete(recording);
    if (this.#waiting.size === 0 || this.#thread === null) return;
    Atomics.store(this.#thread.cells, cells.awaited, 1);
    for (const recording of this.#waiting) if (!recording.look()) this.#waiting.delete(recording);
  }

  /** The thread, started where there is none; `first` is the first request that it gets. */
  #running(first: number): Thread {
    if (this.#thread !== null) return this.#thread;
    const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    // Everything before was for a thread that is gone; who waited for that was told.
    shared[cells.reached] = (first - 1) | 0;
    // Somebody may wait already for what this thread is to do.
    shared[cells.awaited] = 1;
    const workerData: ThreadData = { cells: shared, budgetBytes: this.#budgetBytes };
    const worker = new Worker(workerFile("thread.js"), { name: "recorder", workerData });
    const thread: Thread = { worker, cells: shared };
    worker.on("message", (replies: RecorderReply[]) => {
      for (const reply of replies) this.#take(reply);
    });
    const died = (why: string) => {
      if (this.#thread !== thread) return;
      this.#thread = null;
      this.#queue = [];
      for (const id of [...this.#recordings.keys()]) this.#fail(id, "recording_failed", why);
    };
    worker.on("error", (error) => {
      died(`the recorder's thread died: ${String(error)}`);
    });
    worker.on("exit", () => {
      died("the recorder's thread ended");
    });
    this.#thread = thread;
    this.#hold();
    return thread;
  }

  /** A process lives on while a bundle is open, and only then. */
  #hold(): void {
    if (this.#recordings.size > 0) {
      this.#thread?.worker.ref();
      this.#watch ??= this.#watching();
    } else {
      this.#thread?.worker.unref();
      if (this.#watch !== null) clearInterval(this.#watch);
      this.#watch = null;
    }
  }

  /** A disk that hangs must not hang the sessions with it: they wait for what it has of their steps. */
  #watching(): NodeJS.Timeout {
    let before = { reached: this.#number, at: performance.now() };
    let last = { ended: 0, at: performance.now() };
    const look = (): void => {
      const { queued, finished, failed } = this.stats();
      const reached = (this.#number - queued) | 0;
      const at = performance.now();
      if (queued === 0 || reached !== before.reached) before = { reached, at };
      // What is served of a finish is its beginning; what can hang is the wait for the disk.
      const ended = finished + failed;
      const finishing = [...this.#recordings.values()].some((recording) => recording.finishing);
      if (!finishing || ended !== last.ended) last = { ended, at };
      if (at - Math.min(before.at, last.at) >= this.#stallMs) this.#giveUp();
    };
    return setInterval(look, this.#stallMs / 4).unref();
  }

  #giveUp(): void {
    const thread = this.#thread;
    this.#thread = null;
    this.#queue = [];
    for (const id of [...this.#recordings.keys()])
      this.#fail(id, "recording_failed", `the disk has taken nothing for ${this.#stallMs / 1_000} s`);
    // It ends when what it waits for returns; files and locks are then those of a process that lives, and are recovered after it.
    void thread?.worker.terminate();
  }

  #take(reply: RecorderReply): void {
    if (reply === "reached") {
      this.#look();
      return;
    }
    if (reply === "stopped") {
      this.#stopped();
      return;
    }
    if ("failed" in reply) {
      this.#fail(reply.id, reply.failed.code, reply.failed.message);
      return;
    }
    const recording = this.#remove(reply.id);
    if (recording === undefined) return;
    this.#stats.finished += 1;
    this.#stats.bytes += reply.finished.bytes;
    recording.end();
  }

  #fail(id: number, code: string, message: string): void {
    const recording = this.#remove(id);
    if (recording === undefined) return;
    this.#stats.failed += 1;
    recording.fail(new ShinkenError(code === "disk_full" ? "disk_full" : "recording_failed", message));
  }

  #remove(id: number): Recording | undefined {
    const recording = this.#recordings.get(id);
    if (recording === undefined) return undefined;
    this.#recordings.delete(id);
    this.#waiting.delete(recording);
    this.#hold();
    return recording;
  }
}

function idOf(request: RecorderRequest): number {
  return Array.isArray(request) ? request[0] : request.id;
}

/** Whether it means nothing without its recording. */
function isOf(request: RecorderRequest): boolean {
  return Array.isArray(request) || request.kind === "open" || request.kind === "finish";
}

/** Of what a task is called only what every file system takes; the episode's id makes it unique. */
function fileName(task: string, episode: string): string {
  const folder =
    task
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 64) || "episode";
  const time = new Date().toISOString().replaceAll(/[-:]/g, "").slice(0, 15);
  return `${folder}/${time}-${episode}.skn`;
}
