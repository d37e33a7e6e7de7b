import { ShinkenError } from "../../errors/index.js";
import type { Sandbox, SandboxStats } from "../../sandbox/sandbox.js";
import { evaluateGraph, evaluateMilestones, type GradeContext, type Verdict } from "../../verifiers/index.js";
import { runSteps } from "../setup/steps.js";
import { withinWall } from "../setup/wall.js";
import type { TaskVariant } from "../task/index.js";
import type { EpisodeRecord } from "./episode.js";
import type { GoldenLease } from "./goldens.js";
import type { Grader, MilestoneReading } from "./scenario.js";

/** A grade fork that fails is tried once more: the machine that it is taken from is paused and unharmed. */
const forkAttempts = 2;
/** Seed of the machine on which the golden's own milestones are read; nobody else ever sees it. */
const baselineSeed = new Uint8Array(32);
const nothingYet: EpisodeRecord = { end: "none", answer: null, reason: null, steps: 0, actions: [] };

type Remember = (read: () => Promise<ReadonlySet<string>>) => Promise<ReadonlySet<string>>;

/** Grades the episodes of one variant. */
export class TaskGrader implements Grader {
  readonly #variant: TaskVariant;
  readonly #golden: () => Promise<GoldenLease>;
  readonly #remember: Remember;

  /** `remember` is given the way to read the golden's own milestones and may have read them before. */
  constructor(variant: TaskVariant, golden: () => Promise<GoldenLease>, remember: Remember) {
    this.#variant = variant;
    this.#golden = golden;
    this.#remember = remember;
  }

  baseline(): Promise<ReadonlySet<string>> {
    return this.#remember(() => this.#readBaseline());
  }

  async #readBaseline(): Promise<ReadonlySet<string>> {
    if (this.#variant.graph.milestones.length === 0) return new Set();
    const lease = await this.#golden();
    try {
      const machine = await lease.golden.fork({ seed: baselineSeed });
      try {
        const { earned } = await this.read(machine, nothingYet, new Set());
        return new Set(earned.map(({ id }) => id));
      } finally {
        await machine.close();
      }
    } finally {
      lease.release();
    }
  }

  async read(machine: Sandbox, episode: EpisodeRecord, held: ReadonlySet<string>): Promise<MilestoneReading> {
    const forking = new Forking(this.#variant, machine);
    const graph = this.#variant.graph;
    const { results, earned, lost } = await this.#bounded(
      forking,
      (context) => evaluateMilestones(graph, context, held),
      episode,
    );
    if (forking.death !== null) throw forking.death;
    return {
      earned,
      lost,
      ungraded: results.filter(({ status }) => status === "ungraded").map(({ id }) => id),
    };
  }

  async evaluate(machine: Sandbox, episode: EpisodeRecord): Promise<Verdict> {
    const forking = new Forking(this.#variant, machine);
    try {
      const verdict = await this.#bounded(
        forking,
        (context) => evaluateGraph(this.#variant.graph, context),
        episode,
      );
      const excess = forking.excess();
      return excess === null ? verdict : { ...this.ungraded(`timeout: ${excess}`), checks: verdict.checks };
    } catch (error) {
      return this.ungraded(
        error instanceof ShinkenError ? `${error.code}: ${error.message}` : `grader_error: ${String(error)}`,
      );
    }
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

  /** Grading has wall seconds of its own; when they are over, the evaluation is told to stop. */
  #bounded<T>(
    forking: Forking,
    work: (context: GradeContext) => Promise<T>,
    episode: EpisodeRecord,
  ): Promise<T> {
    const controller = new AbortController();
    const context: GradeContext = {
      fork: () => forking.fork(),
      episode,
      readAsset: (path) => this.#variant.readAsset(path),
      signal: controller.signal,
    };
    const { wall_seconds: seconds } = this.#variant.task.limits.verify;
    return withinWall(
      seconds,
      "grading",
      () => work(context),
      () => controller.abort(),
    );
  }
}

/** Takes grade forks of a machine and prepares them. */
class Forking {
  /** What the forked machine itself died of, if it did. */
  death: ShinkenError | null = null;
  readonly #variant: TaskVariant;
  readonly #machine: Sandbox;
  /** Every fork that was taken, and where it stood then. */
  readonly #taken: { fork: Sandbox; start: SandboxStats }[] = [];

  constructor(variant: TaskVariant, machine: Sandbox) {
    this.#variant = variant;
    this.#machine = machine;
  }

  /** A verdict has machine time and instructions of its own (milestones have their queries' limits). Null, or what was more than the task allows. */
  excess(): string | null {
    const limits = this.#variant.task.limits.verify;
    let seconds = 0;
    let instructions = 0;
    for (const { fork, start } of this.#taken) {
      const now = fork.stats();
      seconds += (now.guestMs - start.guestMs) / 1_000;
      instructions += now.instructions - start.instructions;
    }
    if (seconds > limits.guest_seconds)
      return `grading took ${seconds.toFixed(1)} s of machine time, more than ${limits.guest_seconds}`;
    if (limits.instructions !== undefined && instructions > limits.instructions)
      return `grading took ${instructions} instructions, more than ${limits.instructions}`;
    return null;
  }

  async fork(): Promise<Sandbox> {
    const fork = await this.#take();
    this.#taken.push({ fork, start: fork.stats() });
    const { prepare } = this.#variant.task.verify;
    if (prepare.length === 0) return fork;
    try {
      await runSteps(fork, prepare, {
        readAsset: (path) => this.#variant.readAsset(path),
        at: "verify.prepare",
      });
      return fork;
    } catch (error) {
      await fork.close();
      throw error;
    }
  }

  async #take(): Promise<Sandbox> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#machine.fork("grade");
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
