import type { Environment, ResetResult, StepResult } from "../env/environment.js";
import type { TaskVariant } from "../env/task/index.js";
import { ShinkenError } from "../errors/index.js";
import type { Account, Operator, Player } from "../operator/index.js";
import type { Verdict } from "../verifiers/verdict.js";

/** What plays need of a server: the TypeScript client has this shape. */
export interface RolloutClient {
  create(options: {
    task: string;
    labels?: Readonly<Record<string, string | number | boolean>>;
  }): Promise<Environment>;
  close(): Promise<void>;
}

/** What became of one replica. */
export interface EpisodeOutcome {
  task: string;
  replica: number;
  seed: number;
  status: "graded" | "ungraded";
  /** Null when ungraded. */
  score: number | null;
  passed: boolean | null;
  /** Why it is ungraded. */
  reason: string | null;
  /** Ids of milestones that were paid. */
  milestones: string[];
  reward: number;
  steps: number;
  truncated: boolean;
  verdict: Verdict | null;
  /** Host milliseconds. */
  readyMs: number | null;
  resetMs: number;
  stepMs: number[];
  /** What choosing took: of each step, and of saying that there is nothing more to do. */
  operatorMs: number[];
  /** What an operator that counts has used, and why it stopped; null of scripts. */
  account: Account | null;
  evaluateMs: number;
}

/** Steps after which a player that does not end is stopped, whatever the task says. */
const stepsAtMost = 10_000;

/** Plays one episode to its end and has it graded. Never rejects: what goes wrong is an ungraded outcome. */
export async function playEpisode(
  client: RolloutClient,
  variant: TaskVariant,
  operator: Operator,
  replica: number,
  seed: number,
  run?: string,
): Promise<EpisodeOutcome> {
  const outcome = outcomeOf(variant.task.id, replica, seed);
  let session: Environment | undefined;
  try {
    const labels = { ...(run === undefined ? {} : { run }), group: variant.digest.slice(0, 16), replica };
    session = await client.create({ task: variant.task.id, labels: { ...labels, operator: operator.name } });
    await play(session, variant, operator, outcome);
  } catch (error) {
    outcome.status = "ungraded";
    outcome.score = null;
    outcome.passed = null;
    outcome.reason = error instanceof ShinkenError ? `${error.code}: ${error.message}` : String(error);
  } finally {
    // The outcome stands; a connection that is lost by now has closed the session anyway.
    await session?.close().catch(() => undefined);
  }
  return outcome;
}

/** Of an episode that has not begun. */
export function outcomeOf(task: string, replica: number, seed: number): EpisodeOutcome {
  return {
    task,
    replica,
    seed,
    status: "ungraded",
    score: null,
    passed: null,
    reason: null,
    milestones: [],
    reward: 0,
    steps: 0,
    truncated: false,
    verdict: null,
    readyMs: null,
    resetMs: 0,
    stepMs: [],
    operatorMs: [],
    account: null,
    evaluateMs: 0,
  };
}

async function play(
  session: Environment,
  variant: TaskVariant,
  operator: Operator,
  outcome: EpisodeOutcome,
): Promise<void> {
  const reset = await timed(() => session.reset({ seed: outcome.seed, params: variant.params }));
  outcome.resetMs = reset.ms;
  const ready = reset.result.info["ready_ms"];
  outcome.readyMs = typeof ready === "number" ? ready : null;
  await playOn(session, operator.play(variant), reset.result, outcome);
}

/** Plays to the end from wherever the session is, of which `last` tells, and has it graded. Rejects with what goes wrong. */
export async function playOn(
  session: Environment,
  player: Player,
  last: ResetResult | StepResult,
  outcome: EpisodeOutcome,
): Promise<void> {
  const choose = async (seen: ResetResult | StepResult) => {
    try {
      const { result: turn, ms } = await timed(() => player.next(seen));
      outcome.operatorMs.push(ms);
      return turn;
    } finally {
      // Of a failed episode as well: what was used was used.
      outcome.account = player.account?.() ?? null;
    }
  };
  let turn = await choose(last);
  while (turn !== null && outcome.steps < stepsAtMost) {
    const { actions, decision } = turn;
    const { result, ms } = await timed(() => session.step(actions, decision));
    outcome.steps += 1;
    outcome.stepMs.push(ms);
    outcome.reward += result.reward;
    for (const id of textsOf(result.info["earned"])) {
      if (!outcome.milestones.includes(id)) outcome.milestones.push(id);
    }
    outcome.truncated = result.truncated;
    if (result.terminated || result.truncated) break;
    turn = await choose(result);
  }
  const { result: verdict, ms } = await timed(() => session.evaluate());
  outcome.evaluateMs = ms;
  outcome.verdict = verdict;
  outcome.status = verdict.status;
  outcome.score = verdict.score;
  outcome.passed = verdict.passed;
  outcome.reason = verdict.reason ?? null;
}

/** The texts in what a server sent as a list. */
function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const began = performance.now();
  const result = await work();
  return { result, ms: performance.now() - began };
}
