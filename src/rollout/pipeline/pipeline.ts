/** INIT, RUN and VERIFY: three pools, and episodes that go through them. */
import { type EpisodeOutcome, outcomeOf, type Stage } from "../episode.js";
import { EpisodeAttempt, attemptRecord, type Surroundings } from "./attempt.js";
import { type Admission, type BreakerState, CircuitBreaker } from "./breaker.js";
import { codeOf, reasonOf } from "./failure.js";
import type { EpisodeJob } from "./job.js";
import {
  budgetsOf,
  defaultGraceSeconds,
  defaultRegrades,
  defaultRetries,
  type PipelineOptions,
  poolSizes,
} from "./options.js";
import { Pool, type PoolMetrics, type Slot } from "./pool.js";

export interface PipelineMetrics {
  init: PoolMetrics;
  run: PoolMetrics;
  verify: PoolMetrics;
  /** Sessions from the first slot in INIT until they are closed, those between two stages among them. */
  machines: PoolMetrics;
  /** Attempts beyond the first. */
  retries: number;
  /** Sessions that did not answer to their close. */
  leftBehind: number;
  /** Circuits that have opened at least once. */
  breakers: BreakerState[];
}

/** A job that is on its way. */
export interface Running {
  /** Never rejects. */
  outcome: Promise<EpisodeOutcome>;
  /** Milliseconds in which its present attempt has been worked on. */
  activeMs(): number;
  /** Stops it, in the guest too; its outcome is then ungraded, with the code `cancelled`. */
  cancel(reason: Error): void;
}

/**
 * While one job verifies, another plays and a third boots. Only so many sessions are open that a job which has left INIT finds its way:
 * INIT waits when the later stages cannot keep up.
 */
export class Pipeline {
  private readonly options: PipelineOptions;
  private readonly pools: Readonly<Record<Stage, Pool>>;
  private readonly machines: Pool;
  /** A trunk waits for its branches, which need machines: it must not take the room that they wait for. */
  private readonly trunks: Pool;
  private readonly breaker: CircuitBreaker;
  private retries = 0;
  private leftBehind = 0;

  constructor(options: PipelineOptions) {
    const { init, run, verify } = poolSizes(options.pools);
    this.options = options;
    this.pools = {
      init: new Pool("init", init),
      run: new Pool("run", run),
      verify: new Pool("verify", verify),
    };
    this.machines = new Pool("machines", options.machines ?? init + run + verify);
    this.trunks = new Pool("trunks", run);
    this.breaker = new CircuitBreaker(options.breaker);
  }

  /** Plays one episode. Never rejects; a job that is cancelled before it had a machine is ungraded in INIT. */
  async play(job: EpisodeJob, signal?: AbortSignal): Promise<EpisodeOutcome> {
    return this.start(job, signal).outcome;
  }

  /** The same, with a handle on it. */
  start(job: EpisodeJob, signal?: AbortSignal): Running {
    const stop = new AbortController();
    let attempt: EpisodeAttempt | undefined;
    const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    return {
      outcome: this.tries(job, either, (begun) => {
        attempt = begun;
      }),
      activeMs: () => attempt?.activeMs ?? 0,
      cancel: (reason) => {
        stop.abort(reason);
      },
    };
  }

  metrics(): PipelineMetrics {
    const { init, run, verify } = this.pools;
    return {
      init: init.metrics(),
      run: run.metrics(),
      verify: verify.metrics(),
      machines: this.machines.metrics(),
      retries: this.retries,
      leftBehind: this.leftBehind,
      breakers: this.breaker.states(),
    };
  }

  /** Once its jobs are over. The client stays the caller's. */
  close(): void {
    this.breaker.close();
  }

  private async tries(
    job: EpisodeJob,
    signal: AbortSignal,
    onBegin: (attempt: EpisodeAttempt) => void,
  ): Promise<EpisodeOutcome> {
    const before: EpisodeOutcome["attempts"] = [];
    for (;;) {
      const asked = performance.now();
      let room: { slot: Slot; admission: Admission };
      try {
        room = await this.room(job, signal, before.length > 0);
      } catch (error) {
        return withoutMachine(job, error, before, performance.now() - asked);
      }
      try {
        const attempt = new EpisodeAttempt(job, this.around(job), room.admission, signal);
        onBegin(attempt);
        const { again } = await attempt.run(performance.now() - asked);
        const attempts = [...before, ...attempt.outcome.attempts];
        if (!again || before.length >= (this.options.retries ?? defaultRetries))
          return { ...attempt.outcome, attempts };
        before.push(...attempt.outcome.attempts);
        this.retries += 1;
      } finally {
        room.slot.release();
      }
    }
  }

  /** Leave to make a machine of the image, and room for it; who waits for the one does not keep the other. */
  private async room(
    { variant, trunk }: EpisodeJob,
    signal: AbortSignal,
    urgent: boolean,
  ): Promise<{ slot: Slot; admission: Admission }> {
    const pool = trunk === undefined ? this.machines : this.trunks;
    for (let again = urgent; ; again = true) {
      const admission = await this.breaker.admit(variant.task.image, signal);
      try {
        const slot = await pool.acquire({ signal, urgent: again || admission.probe });
        if (!admission.stale) return { slot, admission };
        slot.release();
      } catch (error) {
        admission.end();
        throw error;
      }
    }
  }

  private around(job: EpisodeJob): Surroundings {
    const { client, budgets, graceSeconds = defaultGraceSeconds, regrades = defaultRegrades } = this.options;
    const { setup, agent, grader } = budgetsOf(job.variant, budgets);
    return {
      client,
      pools: this.pools,
      budgetMs: { init: setup * 1_000, run: agent * 1_000, verify: grader * 1_000 },
      graceMs: graceSeconds * 1_000,
      regrades,
      onLeftBehind: () => {
        this.leftBehind += 1;
      },
    };
  }
}

/** Of a job that was cancelled while it waited, or whose image's circuit is open. */
function withoutMachine(
  { variant, replica, seed }: EpisodeJob,
  error: unknown,
  before: EpisodeOutcome["attempts"],
  waitedMs: number,
): EpisodeOutcome {
  const reason = reasonOf(error);
  const attempt = { ...attemptRecord(), stage: "init" as const, code: codeOf(error), reason };
  attempt.waitedMs.init = waitedMs;
  return {
    ...outcomeOf(variant.task.id, replica, seed),
    stage: "init",
    reason,
    attempts: [...before, attempt],
  };
}
