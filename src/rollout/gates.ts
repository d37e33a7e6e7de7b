/** The gates that a task must pass before it is worth playing: an untested grader is a guess. */
import { GoldenStore } from "../env/session/goldens.js";
import { Session } from "../env/session/session.js";
import { TaskScenario } from "../env/session/task-scenario.js";
import type { LoadedTask, Mutation, TaskVariant } from "../env/task/index.js";
import { ShinkenError } from "../errors/index.js";
import {
  doneOperator,
  failOperator,
  nullOperator,
  type Operator,
  oracleOperator,
} from "../operator/index.js";
import type { GateName, Problem } from "./gate-table.js";
import type { SandboxProvider } from "../sandbox/sandbox.js";
import type { JudgeModel, Verdict } from "../verifiers/index.js";
import { withChange } from "./end-state.js";

/** What the gates found out about one variant. */
export interface VariantFindings {
  /** Scores; null where the verdict was ungraded. */
  oracle: number | null;
  null: number | null;
  failOnly: number | null;
  doneOnly: number | null;
  mutationsFlipped: boolean;
  problems: Problem[];
}

interface Rewards {
  readonly earned: Set<string>;
  readonly paid: Set<string>;
}

/** An episode that has ended: its verdict, and the milestones that paid. */
interface Played extends Rewards {
  verdict: Verdict;
}

/** Episodes of the gates differ in nothing but what is played. */
const gateSeed = 7;
const fewestMilestones = 2;

/** Runs the gates of tasks on machines of a provider. */
export class TaskGates {
  readonly #goldens: GoldenStore;

  readonly #judge: JudgeModel | undefined;

  constructor(provider: SandboxProvider, judge?: JudgeModel) {
    this.#judge = judge;
    this.#goldens = new GoldenStore(provider);
  }

  close(): void {
    this.#goldens.close();
  }

  /** The score of the oracle alone. */
  async oracleScore(task: LoadedTask, variant: TaskVariant): Promise<number | null> {
    return (await this.#episode(task, variant, oracleOperator)).verdict.score;
  }

  /** All gates of one variant but the order of tasks. Rejects if the machine fails; a failing task is a finding. */
  async examine(task: LoadedTask, variant: TaskVariant): Promise<VariantFindings> {
    const problems: Problem[] = [];
    const find = (gate: GateName, problem: string): number => problems.push({ gate, problem });
    const named = (what: string, verdict: Verdict) => {
      if (verdict.status === "ungraded") find("runs", `${what} is ungraded: ${verdict.reason}`);
      return verdict.score;
    };
    if (variant.graph.milestones.length < fewestMilestones)
      find("milestones", `it has fewer than ${fewestMilestones} milestones`);
    // The idle session starts first and is graded last: it must see nothing of the oracle's work.
    const idle = await this.#session(task, variant);
    const solved = await this.#session(task, variant);
    try {
      const { earned } = await this.#play(solved, variant, oracleOperator);
      const verdict = await solved.evaluate();
      const oracle = named("the oracle", verdict);
      if (oracle !== null && oracle !== 1)
        find("oracle", `the oracle scores ${oracle}: ${failures(verdict)}`);
      for (const { id } of variant.graph.milestones) {
        if (!earned.has(id))
          find("milestones", `the oracle does not earn the milestone ${id}, or it holds from the start`);
      }
      const again = await solved.evaluate();
      if (withoutTimes(again) !== withoutTimes(verdict))
        find("repeat", "grading the solved state twice gives two verdicts");
      // Mutations start from the solved state; without one they say nothing.
      const mutationsFlipped = oracle === 1 && (await this.#mutations(solved, variant, problems));
      /** The score of who does not even look, which must be nothing, unless that is the right end. */
      const blind = (
        gate: GateName,
        what: string,
        { verdict, paid }: Played,
        mayScore = false,
      ): number | null => {
        const score = named(what, verdict);
        if (mayScore) return score;
        if (score !== null && score !== 0) find(gate, `${what} scores ${score}`);
        for (const id of paid) find(gate, `${what} earns the milestone ${id}`);
        return score;
      };
      const nothing = blind("null", "the null agent", await this.#played(idle, variant, nullOperator));
      const doneOnly = blind("done_only", "done alone", await this.#episode(task, variant, doneOperator));
      const infeasible = variant.task.expect === "refuse";
      const gaveUp = await this.#episode(task, variant, failOperator);
      const failOnly = blind("fail_only", "fail alone", gaveUp, infeasible);
      return { oracle, null: nothing, failOnly, doneOnly, mutationsFlipped, problems };
    } finally {
      await idle.close();
      await solved.close();
    }
  }

  async #session(task: LoadedTask, variant: TaskVariant): Promise<Session> {
    const session = new Session(new TaskScenario(task, this.#goldens, this.#judge));
    try {
      await session.reset({ seed: gateSeed, params: variant.params });
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async #episode(task: LoadedTask, variant: TaskVariant, operator: Operator): Promise<Played> {
    const session = await this.#session(task, variant);
    try {
      return await this.#played(session, variant, operator);
    } finally {
      await session.close();
    }
  }

  async #played(session: Session, variant: TaskVariant, operator: Operator): Promise<Played> {
    const rewards = await this.#play(session, variant, operator);
    return { verdict: await session.evaluate(), ...rewards };
  }

  /** Plays an episode to its end; returns the milestones that were earned, and those that paid anything at all. */
  async #play(session: Session, variant: TaskVariant, operator: Operator): Promise<Rewards> {
    const rewards: Rewards = { earned: new Set(), paid: new Set() };
    session.onEvent((event) => {
      if (event.event !== "milestone" || event.reward <= 0) return;
      rewards.paid.add(event.check);
      if (event.partial !== true) rewards.earned.add(event.check);
    });
    const player = operator.play(variant);
    let last: Parameters<typeof player.next>[0] = { observation: await session.observe(), info: {} };
    for (;;) {
      const turn = await player.next(last);
      if (turn === null) return rewards;
      const result = await session.step(turn.actions);
      if (result.terminated || result.truncated) return rewards;
      last = result;
    }
  }

  /** Every mutation must flip what it says, and every check must be flipped by one of them. */
  async #mutations(solved: Session, variant: TaskVariant, problems: Problem[]): Promise<boolean> {
    const before = problems.length;
    const find = (problem: string, gate: GateName = "mutations"): number => problems.push({ gate, problem });
    const flipped = new Set<string>();
    for (const mutation of variant.task.mutations) {
      const verdict = await this.#mutated(solved, variant, mutation).catch((error: unknown) => {
        if (!(error instanceof ShinkenError) || error.code !== "setup_failed") throw error;
        find(`mutation ${mutation.id} cannot be carried out: ${error.message}`, "runs");
        return null;
      });
      if (verdict === null) continue;
      if (verdict.status === "ungraded") {
        find(`mutation ${mutation.id} leaves the verdict ungraded: ${verdict.reason}`, "runs");
        continue;
      }
      if (verdict.passed === true) find(`mutation ${mutation.id} does not flip the verdict`);
      const failed = new Set(
        verdict.checks
          .filter(({ status }) => status === "failed" || status === "skipped")
          .map(({ id }) => id),
      );
      for (const id of failed) flipped.add(id);
      for (const id of mutation.flips) {
        const isCheck = verdict.checks.some((check) => check.id === id);
        if (isCheck && !failed.has(id)) find(`mutation ${mutation.id} does not flip ${id}`);
      }
    }
    for (const { id } of variant.graph.checks) {
      if (!flipped.has(id)) find(`no mutation flips ${id}`);
    }
    return problems.length === before;
  }

  async #mutated(solved: Session, variant: TaskVariant, mutation: Mutation): Promise<Verdict> {
    const { grader } = solved.episode().start;
    if (grader === null) throw new TypeError("a task has a grader");
    const { id, steps, episode } = mutation;
    return withChange(solved, variant, { steps, episode, at: `mutations.${id}.steps` }, (fork, record) =>
      grader.evaluate(fork, record),
    );
  }
}

function failures(verdict: Verdict): string {
  return verdict.checks
    .filter(({ status }) => status !== "passed")
    .map(({ id, status, evidence }) => `${id} ${status} (${evidence})`)
    .join("; ");
}

function withoutTimes(verdict: Verdict): string {
  return JSON.stringify({ ...verdict, checks: verdict.checks.map((check) => ({ ...check, ms: 0 })) });
}
