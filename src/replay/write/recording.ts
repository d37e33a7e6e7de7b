/** One episode as its session sees the recorder. */
import type { ShinkenError } from "../../errors/index.js";
import type { Channel } from "../format/channels.js";
import type { RecorderRequest } from "./requests.js";

type Unsent<T> = T extends unknown ? Omit<T, "id"> : never;

interface RecordingOptions {
  episode: string;
  file: string;
  send: (request: Unsent<RecorderRequest>) => void;
}

export class Recording {
  /** Id of the episode. */
  readonly episode: string;
  /** Its bundle, relative to the recorder's folder. */
  readonly file: string;
  readonly #send: RecordingOptions["send"];
  readonly #waiting = new Map<number, () => void>();
  #mark = 0;
  #finish: { mark: number; done: Promise<void> } | null = null;
  #failure: ShinkenError | null = null;
  #listener: ((failure: ShinkenError) => void) | null = null;

  constructor(options: RecordingOptions) {
    this.episode = options.episode;
    this.file = options.file;
    this.#send = options.send;
  }

  /** What ended the recording before its time: `disk_full` or `recording_failed`. */
  get failure(): ShinkenError | null {
    return this.#failure;
  }

  /** Told once, also of a fault that has happened already. */
  onFailure(listener: (failure: ShinkenError) => void): void {
    if (this.#failure !== null) listener(this.#failure);
    else this.#listener = listener;
  }

  /** Adds an event. `guest`: guest milliseconds since the reset. Nothing after a failure or the end. */
  event(
    channel: Channel,
    at: { step: number; guest: number | null; action?: string | undefined },
    payload: Record<string, unknown>,
  ): void {
    if (this.#failure !== null || this.#finish !== null) return;
    const { step, guest, action } = at;
    this.#send({ kind: "event", channel, step, guest, wall: Date.now(), action, payload });
  }

  /** Settles when the operating system has everything so far, or the recording has failed. */
  flush(): Promise<void> {
    return this.#finish?.done ?? this.#until("flush");
  }

  /** Settles when the file is finished and on disk, or the recording has failed. Idempotent. */
  finish(): Promise<void> {
    if (this.#finish === null) {
      const done = this.#until("finish");
      this.#finish = { mark: this.#mark, done };
    }
    return this.#finish.done;
  }

  /** For the recorder. Whether that was the end. */
  reached(mark: number): boolean {
    this.#waiting.get(mark)?.();
    this.#waiting.delete(mark);
    return this.#finish?.mark === mark;
  }

  /** For the recorder: nothing more is written. */
  fail(failure: ShinkenError): void {
    this.#failure = failure;
    for (const settle of this.#waiting.values()) settle();
    this.#waiting.clear();
    this.#listener?.(failure);
  }

  #until(kind: "flush" | "finish"): Promise<void> {
    if (this.#failure !== null) return Promise.resolve();
    const mark = ++this.#mark;
    return new Promise((resolve) => {
      this.#waiting.set(mark, resolve);
      this.#send({ kind, mark });
    });
  }
}
