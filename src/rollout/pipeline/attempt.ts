/** One try at an episode: a session through the three stages, and what became of it. */
import type { StepResult } from "../../env/environment.js";
import type { PastStep, Turn } from "../../operator/index.js";
import {
  type Attempt,
  type EpisodeOutcome,
  outcomeOf,
  type RolloutClient,
  type RolloutSession,
  type Stage,
  takeVerdict,
  timed,
} from "../episode.js";
import { type Played, playTurns } from "../turns.js";
import type { Admission } from "./breaker.js";
import { blamesSandbox, codeOf, isHarnessFailure, reasonOf } from "./failure.js";
import { type EpisodeJob, labelsOf, type Opened } from "./job.js";
import { Phase, settlesWithin } from "./phase.js";
import type { Pool } from "./pool.js";

/** What an attempt needs of the pipeline that it is in. */
export interface Surroundings {
  client: RolloutClient;
  pools: Readonly<Record<Stage, Pool>>;
  budgetMs: Readonly<Record<Stage, number>>;
  graceMs: number;
  regrades: number;
  /** Told where a session did not answer to its close in time. */
  onLeftBehind(): void;
}

const phaseNames: Readonly<Record<Stage, string>> = {
  init: "the setup",
  run: "the agent",
  verify: "the grader",
};

export class EpisodeAttempt {
  readonly outcome: EpisodeOutcome;
  private readonly job: EpisodeJob;
  private readonly around: Surroundings;
  private readonly signal: AbortSignal | undefined;
  private readonly admission: Admission;
  private readonly record: Attempt;
  /** What a trunk has done; kept for nobody else. */
  private readonly past: PastStep[] = [];
  private session: RolloutSession | undefined;
  private phase: { stage: Stage; running: Phase } | undefined;

  constructor(job: EpisodeJob, around: Surroundings, admission: Admission, signal?: AbortSignal) {
    this.job = job;
    this.around = around;
    this.admission = admission;
    this.signal = signal;
    this.outcome = outcomeOf(job.variant.task.id, job.replica, job.seed);
    this.record = attemptRecord();
    this.outcome.attempts.push(this.record);
  }

  /** Milliseconds in which somebody has worked on it so far. */
  get activeMs(): number {
    const { init, run, verify } = this.record.activeMs;
    return init + run + verify + (this.phase?.running.activeMs ?? 0);
  }

  /** Plays and grades. Never rejects: what goes wrong is in the outcome. Says whether a fresh fork may do better. */
  async run(waitedMs: number): Promise<{ again: boolean }> {
    this.record.waitedMs.init = waitedMs;
    let stage: Stage = "init";
    try {
      const opened = await this.inStage(stage, (phase) => this.init(phase));
      stage = "run";
      const last = await this.inStage(stage, (phase) => this.play(opened, phase));
      this.admission.sound();
      if (this.outcome.ended === null) {
        await this.job.trunk?.branch({ ...opened, last }, this.outcome, this.past);
        return { again: false };
      }
      stage = "verify";
      await this.inStage(stage, (phase) => this.verify(opened.session, phase));
      return { again: false };
    } catch (error) {
      this.fail(stage, error);
      // A state whose grading fails may be the operator's doing: another episode in its place would hide that.
      return { again: stage !== "verify" && this.signal?.aborted !== true && isHarnessFailure(error) };
    } finally {
      this.admission.end();
      this.record.steps = this.outcome.steps;
      this.record.episode = this.session?.episode ?? null;
      await this.close();
    }
  }

  private async inStage<T>(stage: Stage, work: (phase: Phase) => Promise<T>): Promise<T> {
    const { pools, budgetMs, graceMs } = this.around;
    return pools[stage].run(
      async ({ waitedMs }) => {
        this.record.waitedMs[stage] += waitedMs;
        const budget = { what: phaseNames[stage], ms: budgetMs[stage], graceMs };
        const phase = new Phase(budget, this.signal);
        this.phase = { stage, running: phase };
        try {
          return await work(phase);
        } finally {
          phase.end();
          this.record.activeMs[stage] = phase.activeMs;
          this.phase = undefined;
        }
      },
      { signal: this.signal },
    );
  }

  private init(phase: Phase): Promise<Opened> {
    let over = false;
    const work = this.open((session) => {
      this.session = session;
      // A session that comes when nobody waits for it any more is closed by whoever made it wait.
      if (over) void this.close();
    });
    return phase
      .guard(work, () => this.session?.cancel())
      .catch((error: unknown) => {
        over = true;
        throw error;
      });
  }

  private async open(opened: (session: RolloutSession) => void): Promise<Opened> {
    const { job, outcome } = this;
    if (job.open !== undefined) return job.open(outcome, opened);
    const { variant, operator, seed } = job;
    const session = await this.around.client.create({ task: variant.task.id, labels: labelsOf(job) });
    opened(session);
    const { result: last, ms } = await timed(() => session.reset({ seed, params: variant.params }));
    outcome.resetMs = ms;
    const ready = last.info["ready_ms"];
    outcome.readyMs = typeof ready === "number" ? ready : null;
    return { session, last, player: operator.play(variant) };
  }

  private async play({ session, player, last }: Opened, phase: Phase): Promise<Opened["last"]> {
    const { outcome, record, admission, job } = this;
    const until = job.trunk?.steps;
    const onStep = (turn: Turn, { observation }: StepResult) => {
      this.past.push({ actions: turn.actions, observation, decision: turn.decision ?? null });
    };
    const options = { phase, onStep: job.trunk === undefined ? undefined : onStep };
    let played: Played = { last };
    if (admission.probe) {
      // A sandbox that has answered a step is sound; those who wait for the probe need not wait for its end.
      played = await playTurns(session, player, last, outcome, { ...options, until: outcome.steps + 1 });
      admission.sound();
    }
    if (outcome.ended === null)
      played = await playTurns(session, player, played.last, outcome, { ...options, until });
    const { refusal } = played;
    if (refusal !== undefined) Object.assign(record, { code: refusal.code, reason: reasonOf(refusal) });
    return played.last;
  }

  private async verify(session: RolloutSession, phase: Phase): Promise<void> {
    for (;;) {
      this.record.evaluations += 1;
      try {
        const grading = timed(() => session.evaluate());
        const { result: verdict, ms } = await phase.guard(grading, () => session.cancel());
        this.outcome.evaluateMs = ms;
        takeVerdict(this.outcome, verdict);
        return;
      } catch (error) {
        const more = this.record.evaluations <= this.around.regrades;
        if (!more || phase.signal.aborted || !isHarnessFailure(error)) throw error;
      }
    }
  }

  private fail(stage: Stage, error: unknown): void {
    const [code, reason] = [codeOf(error), reasonOf(error)];
    Object.assign(this.record, { stage, code, reason });
    Object.assign(this.outcome, { status: "ungraded", score: null, passed: null, verdict: null });
    Object.assign(this.outcome, { stage, reason });
    if (this.signal?.aborted !== true && stage !== "verify" && blamesSandbox(error))
      this.admission.failed(reason);
  }

  /** The outcome stands; a session that does not answer is left to the server's own limits. */
  private async close(): Promise<void> {
    const closing = this.session?.close();
    if (closing !== undefined && !(await settlesWithin(closing, this.around.graceMs)))
      this.around.onLeftBehind();
  }
}

export function attemptRecord(): Attempt {
  return {
    stage: null,
    episode: null,
    steps: 0,
    code: null,
    reason: null,
    activeMs: { init: 0, run: 0, verify: 0 },
    waitedMs: { init: 0, run: 0, verify: 0 },
    evaluations: 0,
  };
}
