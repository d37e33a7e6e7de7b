/** Rows of the tables, to and from what programs see. JSON in a column was written here, and is checked by the table. */
import type { Account } from "../../operator/index.js";
import type { Grading, Labels, RunEnd, RunInfo, RunLock, RunSource, StoredEpisode } from "./types.js";

export interface RunRow {
  run: string;
  began_ms: number;
  source: RunSource;
  task_set: string;
  verifier: string;
  image: string | null;
  golden: string | null;
  runtime: string;
  operator: string;
  scaffold: string | null;
  model: string | null;
  revision: string | null;
  seed: number;
  replicas: number;
  settings: string;
  labels: string;
}

export type ListedRun = RunRow & { status: RunEnd | null; ended_ms: number | null; episodes: number };

export function runRow(
  run: string,
  source: RunSource,
  { taskSet, settings, ...lock }: RunLock,
  labels: Labels,
): RunRow {
  return {
    ...lock,
    run,
    source,
    began_ms: Date.now(),
    task_set: taskSet,
    settings: JSON.stringify(settings),
    labels: JSON.stringify(labels),
  };
}

export function runInfo(row: ListedRun): RunInfo {
  return {
    id: row.run,
    began: row.began_ms,
    ended: row.ended_ms,
    status: row.status ?? "open",
    source: row.source,
    lock: {
      taskSet: row.task_set,
      verifier: row.verifier,
      image: row.image,
      golden: row.golden,
      runtime: row.runtime,
      operator: row.operator,
      scaffold: row.scaffold,
      model: row.model,
      revision: row.revision,
      seed: row.seed,
      replicas: row.replicas,
      settings: JSON.parse(row.settings) as RunLock["settings"],
    },
    labels: JSON.parse(row.labels) as Labels,
    episodes: row.episodes,
  };
}

/** Without `seq`, which the table gives. */
export function episodeRow(run: string, one: StoredEpisode) {
  return {
    episode: one.episode,
    run,
    task: one.task,
    task_version: one.taskVersion,
    variant: one.variant,
    params: JSON.stringify(one.params),
    replica: one.replica,
    attempt: one.attempt,
    seed: one.seed,
    image: one.image,
    golden: one.golden,
    file: one.file,
    sha256: one.sha256,
    milestones: JSON.stringify(one.milestones),
    reward: one.reward,
    steps: one.steps,
    truncated: one.truncated ? 1 : 0,
    ready_ms: one.readyMs,
    reset_ms: one.resetMs,
    step_ms: JSON.stringify(one.stepMs),
    operator_ms: JSON.stringify(one.operatorMs),
    evaluate_ms: one.evaluateMs,
    tokens_in: one.tokensIn,
    tokens_out: one.tokensOut,
    model_ms: one.modelMs,
    guest_ms: one.guestMs,
    harness_ms: one.harnessMs,
    judge_ms: one.judgeMs,
    dollars: one.dollars ?? null,
    account: one.account === undefined || one.account === null ? null : JSON.stringify(one.account),
    labels: JSON.stringify(one.labels),
    stored_ms: Date.now(),
  };
}
export type EpisodeRow = ReturnType<typeof episodeRow>;

export interface VerdictRow {
  episode: string;
  provenance: StoredEpisode["provenance"];
  task: string;
  task_version: string;
  verifier: string | null;
  runtime: string;
  by: "session" | "rerun" | "state" | "report";
  status: "graded" | "ungraded";
  score: number | null;
  passed: number | null;
  reason: string | null;
  verdict: string | null;
  file: string | null;
  sha256: string | null;
  stored_ms: number;
}

/** The verdict that came with an episode. */
export function toldVerdict(one: StoredEpisode, runtime: string): VerdictRow {
  return {
    episode: one.episode,
    provenance: one.provenance,
    task: one.task,
    task_version: one.taskVersion,
    verifier: one.verifierVersion,
    runtime,
    by: one.provenance === "self_reported" ? "report" : "session",
    status: one.status,
    score: one.score,
    passed: one.passed === null ? null : Number(one.passed),
    reason: one.reason,
    verdict: one.verdict === null ? null : JSON.stringify(one.verdict),
    file: one.file,
    sha256: one.sha256,
    stored_ms: Date.now(),
  };
}

export function gradingRow({ verdict, ...rest }: Grading): VerdictRow {
  return {
    ...rest,
    status: verdict.status,
    score: verdict.score,
    passed: verdict.passed === null ? null : Number(verdict.passed),
    reason: verdict.reason ?? null,
    verdict: JSON.stringify(verdict),
    stored_ms: Date.now(),
  };
}

export function grading(row: VerdictRow): Grading {
  return {
    episode: row.episode,
    file: row.file ?? "",
    sha256: row.sha256 ?? "",
    task: row.task,
    task_version: row.task_version,
    verifier: row.verifier ?? "",
    runtime: row.runtime,
    by: row.by as Grading["by"],
    provenance: "regraded",
    verdict: JSON.parse(row.verdict ?? "null") as Grading["verdict"],
  };
}

export type JoinedRow = EpisodeRow & Omit<VerdictRow, keyof EpisodeRow>;

export function storedEpisode(row: JoinedRow): StoredEpisode {
  return {
    episode: row.episode,
    task: row.task,
    taskVersion: row.task_version,
    verifierVersion: row.verifier,
    image: row.image,
    golden: row.golden,
    variant: row.variant,
    params: JSON.parse(row.params) as StoredEpisode["params"],
    replica: row.replica,
    attempt: row.attempt,
    seed: row.seed,
    file: row.file,
    sha256: row.sha256,
    provenance: row.provenance,
    status: row.status,
    score: row.score,
    passed: row.passed === null ? null : row.passed === 1,
    reason: row.reason,
    verdict: JSON.parse(row.verdict ?? "null") as StoredEpisode["verdict"],
    milestones: JSON.parse(row.milestones) as string[],
    reward: row.reward,
    steps: row.steps,
    truncated: row.truncated === 1,
    readyMs: row.ready_ms,
    resetMs: row.reset_ms,
    stepMs: JSON.parse(row.step_ms) as number[],
    operatorMs: JSON.parse(row.operator_ms) as number[],
    evaluateMs: row.evaluate_ms,
    tokensIn: row.tokens_in,
    tokensOut: row.tokens_out,
    modelMs: row.model_ms,
    guestMs: row.guest_ms,
    harnessMs: row.harness_ms,
    judgeMs: row.judge_ms,
    dollars: row.dollars,
    account: JSON.parse(row.account ?? "null") as Account | null,
    labels: JSON.parse(row.labels) as Labels,
  };
}
