/**
 * What a player has of an episode: its environment, which counts what is done and notices how it ends. A branch of it is an ordinary
 * environment: what happens there is no part of the rollout.
 */
import type { CheckpointListing } from "../../env/checkpoints.js";
import type {
  Decision,
  Environment,
  EnvironmentEvent,
  Observation,
  ResetResult,
  StepResult,
} from "../../env/environment.js";
import { type ErrorCode, isInfrastructure, ShinkenError } from "../../errors/index.js";
import type { Verdict } from "../../verifiers/verdict.js";
import type { Play } from "./lease.js";

/** Where the end of an episode is told. */
export interface EpisodeEnd {
  finished(play: Play): void;
  failed(code: ErrorCode, message: string): void;
  returned(): void;
}

export class PulledEnvironment implements Environment {
  readonly #inner: Environment;
  readonly #end: EpisodeEnd;
  readonly #gradable: boolean;
  #reward = 0;
  #steps = 0;
  #over = false;
  /** Of the state after the latest step. */
  #verdict: Verdict | null = null;
  /** What runs; settles always. */
  #running: Promise<unknown> = Promise.resolve();
  #dead = false;
  checkpoints?: () => Promise<CheckpointListing>;

  constructor(inner: Environment, end: EpisodeEnd, gradable: boolean) {
    this.#inner = inner;
    this.#end = end;
    this.#gradable = gradable;
    const checkpoints = inner.checkpoints?.bind(inner);
    if (checkpoints !== undefined) this.checkpoints = checkpoints;
  }

  get task(): string {
    return this.#inner.task;
  }

  get bundle(): { readonly episode: string; readonly file: string } | null {
    return this.#inner.bundle ?? null;
  }

  get episodeId(): string | null {
    return this.bundle?.episode ?? null;
  }

  reset(): Promise<ResetResult> {
    return Promise.reject(
      new ShinkenError("bad_request", "an episode of a rollout is reset already, and is played once", {
        path: "op",
        suggestion: "close it and pull the next one with rollout.next",
      }),
    );
  }

  step(actions: readonly unknown[], decision?: Decision): Promise<StepResult> {
    return this.#watched(async () => {
      const result = await this.#inner.step(actions, decision);
      this.#verdict = null;
      this.#steps += 1;
      this.#reward += result.reward;
      this.#over = result.terminated || result.truncated;
      return result;
    });
  }

  evaluate(): Promise<Verdict> {
    return this.#watched(() => this.#grade());
  }

  observe(): Promise<Observation> {
    return this.#watched(() => this.#inner.observe());
  }

  fork(options?: { atStep?: number | undefined }): Promise<Environment> {
    return this.#inner.fork(options);
  }

  cancel(): void {
    this.#inner.cancel();
  }

  onEvent(listener: (event: EnvironmentEvent) => void): void {
    this.#inner.onEvent(listener);
  }

  /**
   * Its player is through with it: what was not graded is graded now, and the result told. An episode in which nothing was done and
   * nothing graded is given back instead.
   */
  async finish(): Promise<void> {
    this.#inner.cancel();
    await this.#running;
    if (this.#dead) return;
    if (this.#steps === 0 && this.#verdict === null) {
      this.#end.returned();
      return;
    }
    try {
      await this.#watched(() => this.#grade());
      if (this.#verdict !== null) this.#tell(this.#verdict);
    } catch (error) {
      const code = error instanceof ShinkenError ? error.code : "internal";
      this.#end.failed(code, error instanceof Error ? error.message : String(error));
    }
  }

  /** Idempotent. Of an episode that is not finished: gives it back. */
  async close(): Promise<void> {
    this.#end.returned();
    await this.#inner.close();
  }

  /** Of the state as it is, asked once; what the harness could not tell is asked once more. */
  async #grade(): Promise<Verdict> {
    if (this.#verdict !== null) return this.#verdict;
    let verdict = await this.#inner.evaluate();
    if (this.#gradable && verdict.status === "ungraded") verdict = await this.#inner.evaluate();
    this.#verdict = verdict;
    if (this.#over) this.#tell(verdict);
    return verdict;
  }

  #tell(verdict: Verdict): void {
    if (this.#gradable && verdict.status === "ungraded") {
      this.#dead = true;
      this.#end.failed("grader_error", verdict.reason ?? "the verdict is ungraded");
    } else this.#end.finished({ verdict, reward: this.#reward, steps: this.#steps });
  }

  /** Infrastructure that fails ends the episode for good. */
  #watched<T>(work: () => Promise<T>): Promise<T> {
    const run = work().catch((error: unknown) => {
      if (isInfrastructure(error) && !this.#dead) {
        this.#dead = true;
        const code = error instanceof ShinkenError ? error.code : "internal";
        this.#end.failed(code, error instanceof Error ? error.message : String(error));
      }
      throw error;
    });
    this.#running = run.catch(() => undefined);
    return run;
  }
}
