/** Runs of `evaluateTaskSet` in the run store: what is fixed for them, their episodes in, and back out of it when a run goes on. */
import { randomUUID } from "node:crypto";
import type { LoadedTask, TaskVariant } from "../env/task/index.js";
import type { Operator } from "../operator/index.js";
import type { Verdict } from "../verifiers/verdict.js";
import { type Attempt, type EpisodeOutcome, outcomeOf, type PlayEnd, type Stage, stages } from "./episode.js";
import { attemptRecord } from "./pipeline/attempt.js";
import type { BestOfOptions } from "./pipeline/best-of.js";
import type { Budgets } from "./pipeline/options.js";
import { digestByTask, type Labels, type RunLock, type StoredEpisode } from "./store/index.js";

export interface LockedRun {
  tasks: readonly LoadedTask[];
  /** Content hash of the set. */
  digest: string;
  operator: Operator;
  seed: number;
  replicas: number;
  /** Name and version of the program. */
  runtime: string;
  bestOf?: BestOfOptions | undefined;
  budgets?: Partial<Budgets> | undefined;
  untilWidth?: number | undefined;
}

/** What must be equal for two runs to be comparable, and for a run to go on. */
export function runLock(run: LockedRun): RunLock {
  const { tasks, operator, bestOf } = run;
  const of = (tell: (task: LoadedTask) => string) =>
    digestByTask(tasks.map((task) => [task.id, tell(task)] as const));
  return {
    taskSet: run.digest,
    verifier: of(({ verifierVersion }) => verifierVersion) ?? "none",
    image: of((task) => task.variant().task.image),
    golden: null,
    runtime: run.runtime,
    // So that no leaderboard shows the best of several tries as one.
    operator:
      bestOf === undefined ? operator.name : `${operator.name} (best of ${bestOf.n} by ${bestOf.rule})`,
    scaffold: operator.scaffold ?? null,
    model: operator.model ?? null,
    revision: null,
    seed: run.seed,
    replicas: run.replicas,
    settings: {
      ...flat(operator.settings ?? {}),
      ...flat({ best_of: bestOf, budget_seconds: run.budgets, until_width: run.untilWidth }),
    },
  };
}

/** Nested settings as one level, `a.b: 1`; what is undefined is left out. */
function flat(value: object, prefix = ""): RunLock["settings"] {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, held]: [string, unknown]) => {
      if (held === undefined) return [];
      if (typeof held === "object" && held !== null && !Array.isArray(held))
        return Object.entries(flat(held, `${prefix}${name}.`));
      const scalar = typeof held === "object" && held !== null ? JSON.stringify(held) : held;
      return [[`${prefix}${name}`, scalar as string | number | boolean | null]];
    }),
  );
}

/** A row of each attempt; the last one has the outcome. */
export function storedEpisodes(
  outcome: EpisodeOutcome,
  variant: TaskVariant,
  verifierVersion: string,
): StoredEpisode[] {
  return outcome.attempts.map((attempt, index) => {
    const last = index === outcome.attempts.length - 1;
    const { account } = outcome;
    const told = last ? outcome : outcomeOf(outcome.task, outcome.replica, outcome.seed);
    return {
      episode: attempt.episode ?? randomUUID(),
      task: outcome.task,
      // A server may have other graders than we: who gave the verdict says so in it.
      taskVersion: told.verdict?.taskVersion ?? variant.task.version,
      verifierVersion: told.verdict?.verifierVersion ?? verifierVersion,
      image: variant.task.image,
      golden: null,
      variant: variant.digest,
      params: variant.params,
      replica: outcome.replica,
      attempt: index,
      seed: outcome.seed,
      file: null,
      sha256: null,
      provenance: "recorded",
      status: told.status,
      score: told.score,
      passed: told.passed,
      reason: last ? outcome.reason : attempt.reason,
      verdict: told.verdict,
      milestones: told.milestones,
      reward: last ? outcome.reward : null,
      steps: attempt.steps,
      truncated: told.truncated,
      readyMs: told.readyMs,
      resetMs: last ? outcome.resetMs : null,
      stepMs: told.stepMs,
      operatorMs: told.operatorMs,
      evaluateMs: last ? outcome.evaluateMs : null,
      tokensIn: last ? (account?.tokens_in ?? null) : null,
      tokensOut: last ? (account?.tokens_out ?? null) : null,
      modelMs: last && account !== null ? sum(outcome.operatorMs) : null,
      guestMs: null,
      harnessMs: null,
      judgeMs: null,
      dollars: last ? (account?.dollars ?? null) : null,
      account: last ? account : null,
      labels: labelsOf(attempt, last ? outcome.ended : null),
    };
  });
}

/** What no column of the store holds. */
function labelsOf(attempt: Attempt, ended: PlayEnd | null): Labels {
  const { stage, code, evaluations, activeMs, waitedMs } = attempt;
  return {
    ...(ended === null ? {} : { ended }),
    ...(stage === null ? {} : { stage }),
    ...(code === null ? {} : { code }),
    evaluations,
    ...Object.fromEntries(
      stages.flatMap((name) => [
        [`active_${name}_ms`, Math.round(activeMs[name])],
        [`waited_${name}_ms`, Math.round(waitedMs[name])],
      ]),
    ),
  };
}

/** The outcomes that a run has so far. Of best-of-n the candidates are not kept. */
export function outcomesOf(rows: readonly StoredEpisode[]): EpisodeOutcome[] {
  const replicas = new Map<string, StoredEpisode[]>();
  for (const row of rows) {
    const key = `${row.task}\0${row.replica}`;
    replicas.set(key, [...(replicas.get(key) ?? []), row]);
  }
  return [...replicas.values()].map((attempts) => {
    const rowsInOrder = [...attempts].sort((a, b) => a.attempt - b.attempt);
    const last = rowsInOrder.at(-1) as StoredEpisode;
    return {
      ...outcomeOf(last.task, last.replica, last.seed ?? 0),
      status: last.status,
      score: last.score,
      passed: last.passed,
      reason: last.reason,
      stage: (last.labels["stage"] as Stage | undefined) ?? null,
      ended: (last.labels["ended"] as PlayEnd | undefined) ?? null,
      milestones: last.milestones,
      reward: last.reward ?? 0,
      steps: last.steps ?? 0,
      truncated: last.truncated,
      verdict: last.verdict as Verdict | null,
      readyMs: last.readyMs,
      resetMs: last.resetMs ?? 0,
      stepMs: last.stepMs,
      operatorMs: last.operatorMs,
      account: last.account ?? null,
      evaluateMs: last.evaluateMs ?? 0,
      attempts: rowsInOrder.map(attemptOf),
    };
  });
}

function attemptOf({ episode, steps, reason, labels }: StoredEpisode): Attempt {
  const of = (what: string) =>
    Object.fromEntries(stages.map((name) => [name, Number(labels[`${what}_${name}_ms`] ?? 0)]));
  return {
    ...attemptRecord(),
    stage: (labels["stage"] as Stage | undefined) ?? null,
    code: (labels["code"] as string | undefined) ?? null,
    episode,
    steps: steps ?? 0,
    reason,
    evaluations: Number(labels["evaluations"] ?? 0),
    activeMs: of("active") as Attempt["activeMs"],
    waitedMs: of("waited") as Attempt["waitedMs"],
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
