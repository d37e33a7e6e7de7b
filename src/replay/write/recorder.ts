/**
 * The recorder of a process: sessions hand it events, a thread of its own writes them. Handing over costs a step a message between
 * threads, sent once for all sessions of one turn of the event loop; values that were handed over must not be changed afterwards.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { ShinkenError } from "../../errors/index.js";
import { Recording } from "./recording.js";
import type { RecorderReply, RecorderRequest } from "./requests.js";
import { workerFile } from "./worker-file.js";

export interface RecorderOptions {
  /** Folder of bundles; made if it is not there. */
  folder: string;
  /** Name and version of the program. */
  runtime: string;
  /** Values that must not enter any bundle: tokens, keys. */
  secrets?: readonly string[];
}

export interface RecorderStats {
  /** Bundles that are being written. */
  open: number;
  finished: number;
  /** Bundles that stopped for a fault. */
  failed: number;
  /** Bytes of the finished ones, without blobs. */
  bytes: number;
}

export class Recorder {
  readonly folder: string;
  readonly runtime: string;
  readonly #secrets: string[];
  #thread: Worker | null = null;
  readonly #recordings = new Map<number, Recording>();
  #queue: RecorderRequest[] = [];
  #scheduled = false;
  #closing: Promise<void> | null = null;
  #next = 1;
  readonly #stats = { finished: 0, failed: 0, bytes: 0 };

  /** @throws ShinkenError `recording_failed` if the folder cannot be made. */
  constructor(options: RecorderOptions) {
    this.folder = options.folder;
    this.runtime = options.runtime;
    this.#secrets = (options.secrets ?? []).filter((secret) => secret !== "");
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
    return { open: this.#recordings.size, ...this.#stats };
  }

  /** Begins the bundle of an episode. Never throws: a fault is told to the recording's listener. */
  open(options: {
    task: string;
    secrets?: readonly string[] | undefined;
    variables?: readonly string[] | undefined;
  }): Recording {
    const id = this.#next++;
    const episode = randomUUID();
    const file = fileName(options.task, episode);
    const recording = new Recording({
      episode,
      file,
      send: (request) => this.#send({ ...request, id } as RecorderRequest),
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
    this.#send({ kind: "open", id, folder: this.folder, file, runtime: this.runtime, secrets });
    return recording;
  }

  /** Finishes every bundle and ends the thread. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await Promise.all([...this.#recordings.values()].map((recording) => recording.finish()));
      this.#post();
      await this.#thread?.terminate();
      this.#thread = null;
    })();
    return this.#closing;
  }

  #send(request: RecorderRequest): void {
    this.#queue.push(request);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#post());
  }

  #post(): void {
    this.#scheduled = false;
    const requests = this.#queue;
    if (requests.length === 0) return;
    this.#queue = [];
    try {
      this.#running().postMessage(requests);
    } catch (error) {
      // Something in it cannot be cloned: only its own recording pays for that.
      if (requests.length === 1) this.#fail(requests[0]?.id ?? 0, "recording_failed", String(error));
      else for (const request of requests) this.#postOne(request);
    }
  }

  #postOne(request: RecorderRequest): void {
    try {
      this.#running().postMessage([request]);
    } catch (error) {
      this.#fail(request.id, "recording_failed", String(error));
    }
  }

  #running(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(workerFile("thread.js"), { name: "recorder" });
    thread.on("message", (replies: RecorderReply[]) => {
      for (const reply of replies) this.#take(reply);
    });
    const died = (why: string) => {
      if (this.#thread !== thread) return;
      this.#thread = null;
      for (const id of [...this.#recordings.keys()]) this.#fail(id, "recording_failed", why);
    };
    thread.on("error", (error) => died(`the recorder's thread died: ${String(error)}`));
    thread.on("exit", () => died("the recorder's thread ended"));
    this.#thread = thread;
    this.#hold();
    return thread;
  }

  /** A process lives on while a bundle is open, and only then. */
  #hold(): void {
    if (this.#recordings.size > 0) this.#thread?.ref();
    else this.#thread?.unref();
  }

  #take(reply: RecorderReply): void {
    const recording = this.#recordings.get(reply.id);
    if (recording === undefined) return;
    if ("failed" in reply) {
      this.#fail(reply.id, reply.failed.code, reply.failed.message);
      return;
    }
    if (recording.reached(reply.mark)) {
      this.#recordings.delete(reply.id);
      this.#hold();
      this.#stats.finished += 1;
      this.#stats.bytes += reply.bytes;
    }
  }

  #fail(id: number, code: string, message: string): void {
    const recording = this.#recordings.get(id);
    if (recording === undefined) return;
    this.#recordings.delete(id);
    this.#hold();
    this.#stats.failed += 1;
    recording.fail(new ShinkenError(code === "disk_full" ? "disk_full" : "recording_failed", message));
  }
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
