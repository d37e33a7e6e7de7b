/**
 * An environment that is recorded: whatever passes between a session and its client is also an event of a bundle, one bundle an
 * episode. The client notices nothing but the `infra` event that tells when recording had to stop.
 */
import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import type { EnvironmentOptions } from "../../env/checkpoints.js";
import type {
  Decision,
  Environment,
  EnvironmentEvent,
  Observation,
  ResetResult,
  StepResult,
} from "../../env/environment.js";
import { isInfrastructure, ShinkenError } from "../../errors/index.js";
import type { Verdict } from "../../verifiers/verdict.js";
import type { SessionFacts } from "../format/channels.js";
import { statePath } from "../write/leftovers.js";
import { release, takeNew } from "../write/owner.js";
import type { RecordedSession, Recorder } from "../write/recorder.js";
import type { Recording } from "../write/recording.js";
import { hostFacts, type RecordedFacts, sessionFacts } from "./facts.js";

export class RecordedEnvironment implements Environment {
  readonly #inner: Environment;
  readonly #recorder: Recorder;
  readonly #options: EnvironmentOptions;
  readonly #facts: RecordedFacts;
  readonly #listeners: ((event: EnvironmentEvent) => void)[] = [];
  /** With its branches. */
  readonly #session: RecordedSession;
  #closed = false;
  #recording: Recording | null = null;
  /** Of the latest step that was answered. */
  #step = 0;
  /** While a step runs, what happens belongs to it. */
  #running = false;
  #guest: number | null = null;
  /** The latest step whose machine was kept. */
  #kept: number | null = null;
  /** A step was begun and not answered: the machine is no longer what it was after the latest that was. */
  #astray = false;
  /** Flush of the step before: the present one waits until the operating system has that, and no longer. */
  #flushed: number | null = null;
  /** The state after the latest answer, being told while the client thinks; what touches the machine next waits for it. Never rejects. */
  #settling: Promise<void> | null = null;
  /** Calls of `cancel`. */
  #cancels = 0;
  checkpoints?: NonNullable<Environment["checkpoints"]>;

  constructor(
    inner: Environment,
    recorder: Recorder,
    options: EnvironmentOptions,
    facts: RecordedFacts,
    session = recorder.session(),
  ) {
    this.#session = session;
    this.#inner = inner;
    this.#recorder = recorder;
    this.#options = options;
    this.#facts = facts;
    inner.onEvent((event) => this.#note(event));
    const checkpoints = inner.checkpoints?.bind(inner);
    if (checkpoints !== undefined) this.checkpoints = checkpoints;
  }

  /** Records an environment that has begun already, as a branch of a recorded episode: of `session`, if that is still open. */
  static async continuing(
    inner: Environment,
    recorder: Recorder,
    options: EnvironmentOptions,
    facts: RecordedFacts,
    parent: NonNullable<SessionFacts["parent"]>,
    session?: RecordedSession,
  ): Promise<RecordedEnvironment> {
    const recorded = new RecordedEnvironment(inner, recorder, options, facts, session);
    recorded.#step = parent.step;
    recorded.#begin(parent);
    await recorded.#snapshot();
    await recorded.#flush();
    return recorded;
  }

  get task(): string {
    return this.#inner.task;
  }

  /** Id and file of the present episode; null before the first reset. */
  get bundle(): { episode: string; file: string } | null {
    return this.#recording === null ? null : { episode: this.#recording.episode, file: this.#recording.file };
  }

  async reset(options?: Parameters<Environment["reset"]>[0]): Promise<ResetResult> {
    if (this.#settling !== null) await this.#settled("reset");
    let result: ResetResult;
    try {
      result = await this.#inner.reset(options);
    } catch (error) {
      // A request that was refused has left the old episode alone.
      if (!(error instanceof ShinkenError && error.code === "bad_request"))
        await this.#end("a reset that failed");
      throw error;
    }
    this.#event("marker", { kind: "ended", message: "reset" });
    const former = this.#recording;
    // Before the former is finished: what happens meanwhile is the new one's.
    this.#begin(null);
    await former?.finish();
    await this.#answered({ ...result, terminated: false, truncated: false });
    return result;
  }

  async step(actions: readonly unknown[], decision?: Decision): Promise<StepResult> {
    try {
      if (this.#settling !== null) await this.#settled("step");
    } catch (error) {
      // Cancelled before it began: it did nothing, as one that was refused.
      this.#running = true;
      this.#asked(actions, decision);
      this.#event("marker", { kind: "refused", ...told(error) });
      this.#running = false;
      throw error;
    }
    this.#running = true;
    const began = this.#recording !== null;
    if (began) this.#asked(actions, decision);
    const astray = this.#astray;
    this.#astray = true;
    let result: StepResult;
    try {
      result = await this.#inner.step(actions, decision);
    } catch (error) {
      // What was refused did nothing.
      if (!astray && whyUnanswered(error) === "refused") this.#astray = false;
      if (began) this.#unanswered(error);
      throw error;
    } finally {
      this.#running = false;
    }
    if (!began) return result;
    this.#astray = false;
    this.#step += 1;
    if (result.reward !== 0) this.#event("reward", { reward: result.reward, check: null });
    await this.#answered(result);
    return result;
  }

  async evaluate(): Promise<Verdict> {
    if (this.#settling !== null) await this.#settled("evaluate");
    const started = performance.now();
    let verdict: Verdict;
    try {
      verdict = await this.#inner.evaluate();
    } catch (error) {
      this.#event("marker", { kind: "no_verdict", ...told(error) });
      throw error;
    }
    const ms = Math.round((performance.now() - started) * 1_000) / 1_000;
    this.#event("verdict", { verdict, verifier: verdict.verifierVersion, ms });
    await this.#keepMachine();
    await this.#flush();
    return verdict;
  }

  observe(): Promise<Observation> {
    return this.#inner.observe();
  }

  async fork(options?: { atStep?: number | undefined }): Promise<Environment> {
    if (this.#settling !== null) await this.#settled("fork");
    const step = options?.atStep ?? this.#step;
    const parent = this.bundle;
    const branch = await this.#inner.fork(options);
    const session = this.#session.hold();
    if (parent === null)
      return new RecordedEnvironment(branch, this.#recorder, this.#options, this.#facts, session);
    this.#event("marker", { kind: "branched", message: `from step ${step}` });
    const at = { ...parent, step };
    return RecordedEnvironment.continuing(branch, this.#recorder, this.#options, this.#facts, at, session);
  }

  cancel(): void {
    this.#cancels += 1;
    this.#inner.cancel();
  }

  onEvent(listener: (event: EnvironmentEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Settles when the machine is gone and the bundle is on disk. */
  async close(): Promise<void> {
    try {
      await this.#settling;
      await this.#keepMachine();
      await this.#inner.close();
    } finally {
      await this.#end("close");
      if (!this.#closed) this.#session.release();
      this.#closed = true;
    }
  }

  #begin(parent: SessionFacts["parent"]): void {
    const { secrets } = this.#options;
    const recording = this.#recorder.open({
      task: this.#inner.task,
      secrets: secrets?.values,
      variables: secrets?.variables,
      session: this.#session,
    });
    this.#recording = recording;
    this.#flushed = null;
    if (parent === null) this.#step = 0;
    this.#kept = null;
    this.#astray = false;
    this.#guest = null;
    recording.onFailure(({ code, message }) => this.#emit({ event: "infra", code, message }));
    this.#event("session", {
      ...sessionFacts(this.#inner, this.#options, this.#facts),
      episode: recording.episode,
      parent,
      runtime: this.#recorder.runtime,
      host: hostFacts(),
    });
  }

  #asked(actions: readonly unknown[], decision: Decision | undefined): void {
    // Models write what they do, secrets included, before they do it.
    if (decision !== undefined) this.#event("decision", { ...decision }, undefined, actions);
    for (const [index, action] of actions.entries())
      this.#event("action", { action }, `${this.#step + 1}.${index}`);
  }

  #unanswered(error: unknown): void {
    const { code, message } = told(error);
    const kind = whyUnanswered(error);
    this.#running = true;
    this.#event("marker", { kind, message, code });
    this.#running = false;
    this.#flushed = this.#recording?.flush() ?? this.#flushed;
  }

  async #answered(
    result: StepResult | (ResetResult & { terminated: false; truncated: false }),
  ): Promise<void> {
    const { observation, terminated, truncated, info } = result;
    const guest = info["guest_ms"];
    this.#guest = typeof guest === "number" ? guest : this.#step === 0 ? 0 : null;
    this.#event("observation", { observation, terminated, truncated, info });
    if (this.#inner.state === undefined) return this.#flush();
    const recording = this.#recording;
    const before = this.#flushed;
    const settling = this.#snapshot().then(() => {
      this.#flushed = recording?.flush() ?? null;
      if (this.#settling === settling) this.#settling = null;
    });
    this.#settling = settling;
    await recording?.flushed(before);
  }

  /** Waits for the state after the latest answer. A cancel meanwhile is that of the request that waits. */
  async #settled(what: string): Promise<void> {
    const cancels = this.#cancels;
    await this.#settling;
    if (this.#cancels !== cancels) throw new ShinkenError("cancelled", `${what} was cancelled`);
  }

  async #snapshot(): Promise<void> {
    if (this.#inner.state === undefined || this.#recording === null) return;
    try {
      const { digest, instructions, guestMs } = await this.#inner.state();
      this.#guest = guestMs;
      this.#event("snapshot", { digest, instructions, guest_ms: guestMs, pages: null });
    } catch (error) {
      // The machine has died or was closed meanwhile; whoever asks it next is told.
      this.#event("marker", { kind: "no_state", ...told(error) });
    }
  }

  /** Keeps the machine with the bundle, once a step, where the recorder was asked to. */
  async #keepMachine(): Promise<void> {
    const recording = this.#recording;
    const { secrets } = this.#options;
    const named = (secrets?.values?.length ?? 0) + (secrets?.variables?.length ?? 0) > 0;
    // Its memory holds what was said to be secret.
    if (!this.#recorder.states || named || recording === null || this.#kept === this.#step) return;
    if (this.#astray) return;
    if (this.#inner.state === undefined || this.#inner.saveState === undefined) return;
    this.#kept = this.#step;
    const path = statePath(this.#recorder.folder, randomUUID());
    try {
      takeNew(path);
      const { instructions, guestMs } = await this.#inner.state();
      const { digest } = await this.#inner.saveState(path);
      const pages = { delta: await readFile(path) };
      this.#event("snapshot", { digest, instructions, guest_ms: guestMs, pages });
    } catch (error) {
      this.#event("marker", { kind: "no_state", ...told(error) });
    } finally {
      await rm(path, { force: true });
      release(path);
    }
  }

  /** Waits for the flush before: a kill loses at most the step that is told now. */
  async #flush(): Promise<void> {
    const recording = this.#recording;
    if (recording === null) return;
    const before = this.#flushed;
    this.#flushed = recording.flush();
    await recording.flushed(before);
  }

  async #end(why: string): Promise<void> {
    const recording = this.#recording;
    if (recording === null) return;
    this.#event("marker", { kind: "ended", message: why });
    this.#recording = null;
    await recording.finish();
  }

  #note(event: EnvironmentEvent): void {
    switch (event.event) {
      case "milestone": {
        const { check, reward, partial } = event;
        this.#event("reward", { reward, check, ...(partial === undefined ? {} : { partial }) });
        break;
      }
      case "progress":
        this.#event("marker", { kind: event.kind, message: event.message });
        break;
      case "infra":
        this.#event("infra", { code: event.code, message: event.message });
    }
    this.#emit(event);
  }

  #event(
    channel: Parameters<Recording["event"]>[0],
    payload: Record<string, unknown>,
    action?: string,
    next?: readonly unknown[],
  ): void {
    const step = this.#running ? this.#step + 1 : this.#step;
    this.#recording?.event(channel, { step, guest: this.#guest, action }, payload, next);
  }

  #emit(event: EnvironmentEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** The kind of marker that a step's error makes. */
function whyUnanswered(error: unknown): "cancelled" | "failed" | "refused" {
  if (error instanceof ShinkenError && error.code === "cancelled") return "cancelled";
  return isInfrastructure(error) ? "failed" : "refused";
}

/** Of an error what a bundle says. */
function told(error: unknown): { code: string; message: string } {
  return {
    code: error instanceof ShinkenError ? error.code : "internal",
    message: error instanceof Error ? error.message : String(error),
  };
}
