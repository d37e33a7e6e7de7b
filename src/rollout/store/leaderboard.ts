/** Runs by their scores. Each line is one run by one provenance: scores of unequal provenance are in no common mean. */
import { bootstrapMean, type Interval } from "../statistics/index.js";
import { scoresByTask } from "./scores.js";
import type { RunStore } from "./store.js";
import type { Labels, RunEnd, RunLock, RunSource, ScoreProvenance } from "./types.js";

/** A row of the view of this name. */
interface ViewRow {
  run: string;
  task_set: string;
  source: RunSource;
  provenance: ScoreProvenance;
  operator: string;
  scaffold: string | null;
  model: string | null;
  revision: string | null;
  seed: number;
  replicas: number;
  verifier: string;
  image: string | null;
  golden: string | null;
  runtime: string;
  status: RunEnd | null;
  began_ms: number;
  /** Programs that gave the verdicts. */
  graded_by: string;
  tasks: number;
  /** Replicas with a score, those that passed, those of whom it is known whether they passed. */
  n: number;
  passed: number | null;
  judged: number;
  ungraded: number;
  /** Replicas without a verdict of this provenance. */
  missing: number;
  /** Means over tasks, each with the same weight; null where nothing was graded. */
  score_mean: number | null;
  pass_rate: number | null;
  steps_mean: number | null;
  tokens_in: number | null;
  tokens_out: number | null;
  dollars: number | null;
}

export interface LeaderboardRow extends ViewRow {
  settings: RunLock["settings"];
  labels: Labels;
  /** Of `score_mean`: hierarchical bootstrap, 95 %; null with one graded replica or none. */
  score_ci: Interval | null;
}

export interface LeaderboardFilter {
  /** Digest of a task set, or its beginning. */
  taskSet?: string | undefined;
  provenance?: ScoreProvenance | undefined;
}

/** By task set, the best first; a run without a score stands last. */
export function leaderboard(store: RunStore, filter: LeaderboardFilter = {}): LeaderboardRow[] {
  const rows = store.all<ViewRow & { settings: string; labels: string }>(
    `SELECT * FROM leaderboard WHERE substr(task_set, 1, length(@taskSet)) = @taskSet
      AND (@provenance IS NULL OR provenance = @provenance)
      ORDER BY task_set, score_mean DESC NULLS LAST, began_ms, run, provenance`,
    { taskSet: filter.taskSet ?? "", provenance: filter.provenance ?? null },
  );
  return rows.map((row) => ({
    ...row,
    settings: JSON.parse(row.settings) as RunLock["settings"],
    labels: JSON.parse(row.labels) as Labels,
    score_ci: bootstrapMean([...scoresByTask(store, row.run, row.provenance).values()]).ci,
  }));
}

/** What must be equal for two lines to be comparable, beside the task set. */
const conditions = ["verifier", "image", "golden", "runtime", "provenance"] as const;

/** The conditions in which lines of one task set are unequal. */
export function unequalConditions(rows: readonly LeaderboardRow[]): string[] {
  return conditions.filter((name) => new Set(rows.map((row) => row[name])).size > 1);
}
