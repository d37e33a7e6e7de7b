import { ShinkenError } from "../../errors/index.js";
import { MachineBudget } from "../../sandbox/budget.js";
import type { Sandbox } from "../../sandbox/sandbox.js";
import {
  evaluateGraph,
  evaluateMilestones,
  type GradeContext,
  type JudgeModel,
  type Milestone,
  type Verdict,
} from "../../verifiers/index.js";
import { runSteps } from "../setup/steps.js";
import { withinWall } from "../setup/wall.js";
import type { TaskVariant } from "../task/index.js";
import type { EpisodeRecord } from "./episode.js";
import type { GoldenLease } from "./goldens.js";
import type { Baseline, Grader, MilestoneReading } from "./scenario.js";

/** A grade fork that fails is tried once more: the machine that it is taken from is paused and unharmed. */
const forkAttempts = 2;
/** Seed of the machine on which the golden's own milestones are read; nobody else ever sees it. */
const baselineSeed = new Uint8Array(32);
const nothingYet: EpisodeRecord = { end: "none", answer: null, reason: null, steps: 0, actions: [] };

type Remember = (read: () => Promise<Baseline>) => Promise<Baseline>;

/** Grades the episodes of one variant. */
export class TaskGrader implements Grader {
  readonly #variant: TaskVariant;
  readonly #golden: () => Promise<GoldenLease>;
  readonly #remember: Remember;
  readonly #judge: JudgeModel | undefined;
  readonly dense: readonly Milestone[];

  /** `remember` is given the way to read the golden's own milestones and may have read them before. */
  constructor(
    variant: TaskVariant,
    golden: () => Promise<GoldenLease>,
    remember: Remember,
    judge?: JudgeModel,
  ) {
    this.#variant = variant;
    this.#golden = golden;
    this.#remember = remember;
    this.#judge = judge;
    this.dense = variant.graph.milestones.filter((one) => one.dense);
  }

  baseline(): Promise<Baseline> {
    return this.#remember(() => this.#readBaseline());
  }

  async #readBaseline(): Promise<Baseline> {
    if (this.#variant.graph.milestones.length === 0) return { held: new Set(), scores: new Map() };
    const lease = await this.#golden();
    try {
      const machine = await lease.golden.fork({ seed: baselineSeed });
      try {
        const { earned, scores, fault } = await this.read(machine, nothingYet, new Set());
        if (fault !== null) {
          const what = `the milestones that hold from the start cannot be read: ${fault.message}`;
          throw new ShinkenError(fault.code, what, { cause: fault });
        }
        return { held: new Set(earned.map(({ id }) => id)), scores };
      } finally {
        await machine.close();
      }
    } finally {
      lease.release();
    }
  }

  async read(
    machine: Sandbox,
    episode: EpisodeRecord,
    held: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<MilestoneReading> {
    const forking = new Forking(this.#variant, machine);
    const graph = this.#variant.graph;
    const { results, earned, lost, fault } = await this.#bounded(
      forking,
      (context) => evaluateMilestones(graph, context, held),
      episode,
      signal,
    );
    if (forking.death !== null) throw forking.death;
    const dense = new Set(this.dense.map(({ id }) => id));
    return {
      earned,
      lost,
      scores: new Map(
        results.flatMap(({ id, score }) => (dense.has(id) && score !== null ? [[id, score] as const] : [])),
      ),
      asked: results.length,
      ungraded: results.filter(({ status }) => status === "ungraded").map(({ id }) => id),
      fault,
    };
  }

  async evaluate(machine: Sandbox, episode: EpisodeRecord, signal?: AbortSignal): Promise<Verdict> {
    const forking = new Forking(this.#variant, machine);
    try {
      const verdict = await this.#bounded(
        forking,
        (context) => evaluateGraph(this.#variant.graph, context),
        episode,
        signal,
      );
      const { exceeded } = forking.budget;
      if (exceeded === null) return verdict;
      // Whatever the checks that came to an end would make of it: a verdict has its budget, or there is none.
      return { ...this.ungraded(`timeout: grading needs more than ${exceeded}`), checks: verdict.checks };
    } catch (error) {
      signal?.throwIfAborted();
      return this.ungraded(
        error instanceof ShinkenError ? `${error.code}: ${error.message}` : `grader_error: ${String(error)}`,
      );
    }
  }

  get version(): string {
    return this.#variant.graph.verifierVersion;
  }

  ungraded(reason: string): Verdict {
    const { task, taskVersion, verifierVersion } = this.#variant.graph;
    return {
      task,
      taskVersion,
      verifierVersion,
      status: "ungraded",
      score: null,
      passed: null,
      reason,
      checks: [],
    };
  }

  /** Grading has wall seconds of its own; when they are over, or `cancelled` is aborted, the evaluation is told to stop. */
  async #bounded<T>(
    forking: Forking,
    work: (context: GradeContext) => Promise<T>,
    episode: EpisodeRecord,
    cancelled?: AbortSignal,
  ): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    const stop = (): void => controller.abort(cancelled?.reason);
    cancelled?.addEventListener("abort", stop, { once: true });
    if (cancelled?.aborted === true) stop();
    const context: GradeContext = {
      fork: (machine) => forking.fork(signal, machine),
      episode,
      readAsset: (path) => this.#variant.readAsset(path),
      judge: this.#judge,
      signal,
    };
    const { wall_seconds: seconds } = this.#variant.task.limits.verify;
    try {
      return await withinWall(
        seconds,
        "grading",
        () => work(context),
        () => controller.abort(),
      );
    } finally {
      cancelled?.removeEventListener("abort", stop);
    }
  }
}

/** Takes grade forks of a machine and prepares them. */
class Forking {
  /** What the forked machine itself died of, if it did. */
  death: ShinkenError | null = null;
  /** Machine time and instructions of all the forks together; they are stopped at its end. */
  readonly budget: MachineBudget;
  readonly #variant: TaskVariant;
  readonly #machine: Sandbox;

  constructor(variant: TaskVariant, machine: Sandbox) {
    this.#variant = variant;
    this.#machine = machine;
    const { guest_seconds: seconds, instructions } = variant.task.limits.verify;
    this.budget = new MachineBudget({ guestMs: seconds * 1_000, instructions });
  }

  /** `name`: of a service, which nothing is prepared on. */
  async fork(signal: AbortSignal, name?: string): Promise<Sandbox> {
    const fork = await this.#take(this.#named(name));
    const { prepare } = this.#variant.task.verify;
    if (prepare.length === 0 || name !== undefined) return fork;
    // Until it is handed over, nobody else can end it.
    const stop = (): void => void fork.close();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      // An application that is asked to save must run; what checks read stands still again.
      await fork.workload?.("goes on");
      await runSteps(fork, prepare, {
        readAsset: (path) => this.#variant.readAsset(path),
        at: "verify.prepare",
        grading: true,
      });
      await fork.workload?.("stands still");
      return fork;
    } catch (error) {
      await fork.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #named(name: string | undefined): Sandbox {
    if (name === undefined) return this.#machine;
    const service = this.#machine.services?.get(name);
    if (service === undefined) throw new ShinkenError("grader_error", `there is no service "${name}"`);
    return service;
  }

  async #take(machine: Sandbox): Promise<Sandbox> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await machine.fork("grade", { budget: this.budget });
      } catch (error) {
        if (
          error instanceof ShinkenError &&
          (error.code === "machine_died" || error.code === "agent_protocol")
        )
          this.death = error;
        if (!(error instanceof ShinkenError && error.code === "fork_failed") || attempt >= forkAttempts)
          throw error;
      }
    }
  }
}
