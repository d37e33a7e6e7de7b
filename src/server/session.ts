/**
 * One session as the server holds it: an environment, the numbering of its steps, and who may speak for it. Knows
 * nothing of sockets; all times are milliseconds of a monotonic clock that the caller reads.
 */
import { isDeepStrictEqual } from "node:util";
import { type CheckpointListing, noCheckpoints } from "../env/checkpoints.js";
import type {
  Decision,
  Environment,
  EnvironmentEvent,
  Observation,
  ResetResult,
  StepResult,
} from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";
import type { Verdict } from "../verifiers/verdict.js";
import type { SessionRow, SessionState } from "../wire/index.js";

/** A reply to `step`. */
export type StepReply = StepResult & { step: number; next: number };

interface LastStep {
  number: number;
  actions: readonly unknown[];
  /** Settled or not: a resend waits for the same outcome. */
  reply: Promise<StepReply>;
}

export interface SessionOptions {
  name: string;
  token: string;
  environment: Environment;
  graceMs: number;
  now: number;
}

export class ServerSession {
  readonly name: string;
  readonly token: string;
  readonly environment: Environment;
  readonly graceMs: number;
  readonly createdAt: number;
  /** Time of the latest request, or of its end. */
  touchedAt: number;
  /** Code of the latest failure of the harness that an event of this episode told; replies only repeat it. */
  failure: string | undefined;
  /** Since when nobody holds it. */
  detachedAt: number | undefined;
  private state: SessionState = "created";
  private next: number | null = null;
  private busyWith: string | undefined;
  private last: LastStep | undefined;
  private closing: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    this.name = options.name;
    this.token = options.token;
    this.environment = options.environment;
    this.graceMs = options.graceMs;
    this.createdAt = options.now;
    this.touchedAt = options.now;
  }

  get busy(): boolean {
    return this.busyWith !== undefined;
  }

  get closed(): boolean {
    return this.closing !== undefined;
  }

  describe(): SessionRow {
    return {
      session: this.name,
      task: this.environment.task,
      state: this.state,
      next: this.next,
      busy: this.busy,
    };
  }

  onEvent(listener: (event: EnvironmentEvent) => void): void {
    this.environment.onEvent(listener);
  }

  /** Starts an episode; the first step is number 1. */
  async reset(
    seed?: number,
    params?: Record<string, unknown>,
  ): Promise<ResetResult & { next: number; episode?: string }> {
    const result = await this.exclusively("reset", async () => {
      const { state, next, last, failure } = this;
      // From here on the old episode is gone, whatever comes of the new one.
      Object.assign(this, { state: "created", next: null, last: undefined, failure: undefined });
      try {
        return await this.environment.reset({ seed, params });
      } catch (error) {
        // Unless the request itself was refused: then nothing has happened.
        if (isRefusal(error) && (await this.hasEpisode()))
          Object.assign(this, { state, next, last, failure });
        throw error;
      }
    });
    this.continueAt(1);
    return { ...result, next: 1, ...this.recorded() };
  }

  /**
   * Does step `number`: new if it is the next one; if it is the latest one again, its reply is returned and nothing is
   * done. A step that ends in an error does not use up its number.
   */
  step(number: number, actions: readonly unknown[], decision?: Decision): Promise<StepReply> {
    const last = this.last;
    if (last?.number === number) return this.resent(last, actions);
    if (this.next === null) return Promise.reject(this.notReset());
    if (number !== this.next) {
      return Promise.reject(
        new ShinkenError(
          "step_out_of_order",
          `step: ${number} is not the next step, nor the latest one again`,
          {
            path: "step",
            suggestion: `the next step is ${this.next}`,
          },
        ),
      );
    }
    if (this.state === "over") {
      return Promise.reject(
        new ShinkenError("episode_over", `the episode of '${this.name}' is over`, { suggestion: "reset it" }),
      );
    }
    if (this.busyWith !== undefined) return Promise.reject(this.busyError(this.busyWith));
    const reply = this.exclusively("step", () => this.environment.step(actions, decision)).then(
      (result) => this.stepped(number, result),
      (error: unknown) => {
        if (this.last?.reply === reply) this.last = last;
        throw error;
      },
    );
    this.last = { number, actions, reply };
    return reply;
  }

  evaluate(): Promise<Verdict> {
    return this.whenReset("evaluate", () => this.environment.evaluate());
  }

  observe(): Promise<Observation> {
    return this.whenReset("observe", () => this.environment.observe());
  }

  /** The branch's environment; `continueFrom` gives its session this one's numbering. */
  fork(atStep?: number): Promise<Environment> {
    return this.whenReset("fork", () => this.environment.fork({ atStep }));
  }

  /** Also while something is running. */
  checkpoints(): Promise<CheckpointListing> {
    if (this.next === null) return Promise.reject(this.notReset());
    return this.environment.checkpoints?.() ?? Promise.resolve(noCheckpoints);
  }

  /** Takes over the numbering of the session that this one was forked from, as it was after step `atStep` if that is said. */
  continueFrom(parent: ServerSession, atStep?: number): void {
    const next = atStep === undefined ? parent.next : atStep + 1;
    // An episode ends with its last step.
    this.state = next === parent.next ? parent.state : "running";
    this.next = next;
  }

  /** The environment has begun its episode, and its next step has this number. */
  continueAt(next: number): void {
    this.state = "running";
    this.next = next;
  }

  /** What a reply tells of the episode's bundle; nothing where none is kept. */
  recorded(): { episode?: string } {
    const episode = this.environment.bundle?.episode;
    return episode === undefined ? {} : { episode };
  }

  /** Whether anything was running that could be asked to stop. */
  cancel(): boolean {
    if (!this.busy) return false;
    this.environment.cancel();
    return true;
  }

  /** Idempotent; stops what runs and frees the machine. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      if (this.busy) this.environment.cancel();
      this.last = undefined;
      await this.environment.close();
    })();
    return this.closing;
  }

  private stepped(number: number, result: StepResult): StepReply {
    if (result.terminated || result.truncated) this.state = "over";
    this.next = number + 1;
    const { observation, reward, terminated, truncated, info } = result;
    return { step: number, next: number + 1, observation, reward, terminated, truncated, info };
  }

  private resent(last: LastStep, actions: readonly unknown[]): Promise<StepReply> {
    if (last.actions === actions || isDeepStrictEqual(last.actions, actions)) return last.reply;
    return Promise.reject(
      new ShinkenError("bad_request", `actions: step ${last.number} was sent before with other actions`, {
        path: "actions",
        suggestion: `new actions belong to step ${last.number + 1}`,
      }),
    );
  }

  private async hasEpisode(): Promise<boolean> {
    try {
      await this.environment.observe();
      return true;
    } catch (error) {
      return !(error instanceof ShinkenError && error.code === "not_reset");
    }
  }

  /** One piece of work at a time; a second one is told to come again. */
  private async exclusively<T>(operation: string, work: () => Promise<T>): Promise<T> {
    if (this.closed) throw new ShinkenError("unknown_session", `'${this.name}' has been closed`);
    if (this.busyWith !== undefined) throw this.busyError(this.busyWith);
    this.busyWith = operation;
    try {
      return await work();
    } finally {
      this.busyWith = undefined;
    }
  }

  private whenReset<T>(operation: string, work: () => Promise<T>): Promise<T> {
    return this.next === null ? Promise.reject(this.notReset()) : this.exclusively(operation, work);
  }

  private notReset(): ShinkenError {
    const busy = this.busyWith;
    if (busy !== undefined) return this.busyError(busy);
    return new ShinkenError("not_reset", `'${this.name}' has not been reset`, {
      suggestion: "send reset first",
    });
  }

  private busyError(operation: string): ShinkenError {
    return new ShinkenError("session_busy", `'${this.name}' is still working on ${operation}`);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ShinkenError && error.code === "bad_request";
}
