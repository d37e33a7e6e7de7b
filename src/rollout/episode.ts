import type { Environment, ResetResult, StepResult } from "../env/environment.js";
import type { Account, Player } from "../operator/index.js";
import type { Verdict } from "../verifiers/verdict.js";
import { playTurns } from "./turns.js";

/** A session of a server. */
export interface RolloutSession extends Environment {
  /** Id of the present episode, where the server records it. */
  readonly episode?: string | null;
}

/** What plays need of a server: the TypeScript client has this shape. */
export interface RolloutClient {
  create(options: {
    task: string;
    labels?: Readonly<Record<string, string | number | boolean>>;
  }): Promise<RolloutSession>;
  close(): Promise<void>;
}

/** The stages of an episode, each with a pool of its own. */
export const stages = ["init", "run", "verify"] as const;
export type Stage = (typeof stages)[number];

/** Milliseconds of each stage that was reached. */
export type StageMs = Record<Stage, number>;

/**
 * What ended the play: the operator had no more to do, it declared its end, a limit of the task, the agent's budget, an action that was
 * refused for what it is, or the bound on steps of any episode.
 */
export type PlayEnd = "operator" | "terminated" | "truncated" | "budget" | "refused" | "steps";

/** One try at an episode, on one machine. */
export interface Attempt {
  /** Where it failed; null if it came through to a verdict. */
  stage: Stage | null;
  /** Id of its bundle, where the server records it. */
  episode: string | null;
  /** Steps that were done. */
  steps: number;
  /** Error code of what it failed of, or of the refused action that ended the play; null if there was neither. */
  code: string | null;
  /** `code: message`. */
  reason: string | null;
  /** Host milliseconds in which somebody worked on it. */
  activeMs: StageMs;
  /** Those in which it waited for a slot, or in INIT for leave to make a machine. */
  waitedMs: StageMs;
  /** Evaluations; more than one where grading failed and was tried in a fresh grade fork. */
  evaluations: number;
}

/**
 * How best-of-n chooses. `score`: by the graders' score, which nobody has who is not the grader: an upper bound. `reward`: by what the
 * milestones paid while it was played. `done`: the first that declared its end. Ties: fewer steps, then the earlier one.
 */
export const selectionRules = ["score", "reward", "done"] as const;
export type SelectionRule = (typeof selectionRules)[number];

/** Several tries at one replica, of which one was taken. */
export interface BestOf {
  n: number;
  rule: SelectionRule;
  /** The step up to which they share one episode; 0: each from the golden. */
  fromStep: number;
  /** Index among the candidates; null where none could be chosen. */
  selected: number | null;
  /** All that were played. An episode that ended before `fromStep` is the only one. */
  candidates: EpisodeOutcome[];
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
  /** Which stage left it ungraded; null when graded, and where the graders themselves could not tell. */
  stage: Stage | null;
  /** Null where the play did not end, and in a replica that was not played. */
  ended: PlayEnd | null;
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
  /** Every attempt, the last one's figures being those above. */
  attempts: Attempt[];
  /** Where this is the outcome of the best of several tries; null where it is of one. */
  bestOf: BestOf | null;
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
    stage: null,
    ended: null,
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
    attempts: [],
    bestOf: null,
  };
}

/** Plays to the end from wherever the session is, of which `last` tells, and has it graded. Rejects with what goes wrong. */
export async function playOn(
  session: Environment,
  player: Player,
  last: ResetResult | StepResult,
  outcome: EpisodeOutcome,
): Promise<void> {
  const { refusal } = await playTurns(session, player, last, outcome);
  if (refusal !== undefined) throw refusal;
  const { result: verdict, ms } = await timed(() => session.evaluate());
  outcome.evaluateMs = ms;
  takeVerdict(outcome, verdict);
}

/** The verdict as the outcome tells it. */
export function takeVerdict(outcome: EpisodeOutcome, verdict: Verdict): void {
  outcome.verdict = verdict;
  outcome.status = verdict.status;
  outcome.score = verdict.score;
  outcome.passed = verdict.passed;
  outcome.reason = verdict.reason ?? null;
}

/** What work gives, and the host milliseconds that it took. */
export async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const began = performance.now();
  const result = await work();
  return { result, ms: performance.now() - began };
}
