/** One episode as its session sees the recorder. */
import type { ShinkenError } from "../../errors/index.js";
import type { Channel } from "../format/channels.js";
import type { RecorderRequest } from "./requests.js";

/** What a recording needs of its recorder. */
export interface RecordingHost {
  /** Gives the request's number. */
  send(request: RecorderRequest): number;
  /** Whether the thread has served the request of that number. */
  isServed(number: number): boolean;
  /** Has `look` called once requests have been served. */
  await(recording: Recording): void;
}

interface RecordingOptions {
  id: number;
  episode: string;
  file: string;
  host: RecordingHost;
}

export class Recording {
  /** Id of the episode. */
  readonly episode: string;
  /** Its bundle, relative to the recorder's folder. */
  readonly file: string;
  /** Among the recordings of its recorder. */
  readonly id: number;
  readonly #host: RecordingHost;
  #waiting: { number: number; settle: () => void }[] = [];
  #finish: Promise<void> | null = null;
  #finished: () => void = () => undefined;
  /** Nothing is written any more, and nobody waits. */
  #over = false;
  #failure: ShinkenError | null = null;
  #listener: ((failure: ShinkenError) => void) | null = null;

  constructor(options: RecordingOptions) {
    this.episode = options.episode;
    this.file = options.file;
    this.id = options.id;
    this.#host = options.host;
  }

  /** Whether somebody waits for the file to be whole. */
  get finishing(): boolean {
    return this.#finish !== null && !this.#over;
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

  /**
   * Adds an event. `guest`: guest milliseconds since the reset; `next`: what is recorded next and may tell what is secret in this.
   * Nothing after a failure or the end.
   */
  event(
    channel: Channel,
    at: { step: number; guest: number | null; action?: string | undefined },
    payload: Record<string, unknown>,
    next?: readonly unknown[],
  ): void {
    if (this.#failure !== null || this.#finish !== null) return;
    this.#host.send([this.id, channel, at.step, at.guest, Date.now(), at.action, payload, next]);
  }

  /** Asks that the operating system get everything so far; gives what to wait for, null where there is nothing. */
  flush(): number | null {
    return this.#failure !== null || this.#finish !== null ? null : this.#host.send([this.id]);
  }

  /** Null where that flush is done, or the recording has failed; else settles when it is, or fails. */
  flushed(flush: number | null): Promise<void> | null {
    if (flush === null || this.#over || this.#host.isServed(flush)) return null;
    return new Promise((settle) => {
      this.#waiting.push({ number: flush, settle });
      this.#host.await(this);
    });
  }

  /** Settles when the file is finished and on disk, or the recording has failed. Idempotent. */
  finish(): Promise<void> {
    if (this.#over) return Promise.resolve();
    this.#finish ??= new Promise((resolve) => {
      this.#finished = resolve;
      this.#host.send({ kind: "finish", id: this.id });
    });
    return this.#finish;
  }

  /** For the recorder: requests have been served. Whether somebody waits all the same. */
  look(): boolean {
    const done = this.#waiting.filter(({ number }) => this.#host.isServed(number));
    if (done.length > 0) this.#waiting = this.#waiting.filter((each) => !done.includes(each));
    for (const { settle } of done) settle();
    return this.#waiting.length > 0;
  }

  /** For the recorder: the file is whole. */
  end(): void {
    this.#settle();
  }

  /** For the recorder: nothing more is written. */
  fail(failure: ShinkenError): void {
    this.#failure = failure;
    this.#settle();
    this.#listener?.(failure);
  }

  #settle(): void {
    this.#over = true;
    this.#finished();
    for (const { settle } of this.#waiting) settle();
    this.#waiting = [];
  }
}
