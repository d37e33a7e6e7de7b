/** One run against another on the same tasks, and whether it is worse. */
import { ShinkenError } from "../../errors/index.js";
import {
  type Interval,
  type PairedDifference,
  pairedDifference,
  type Regression,
  regressionOf,
} from "../statistics/index.js";
import { differencesOf, isAllowed, type Side } from "./conditions.js";
import type { LockDifference } from "./lock.js";
import { scoresByTask } from "./scores.js";
import type { RunStore } from "./store.js";
import type { RunInfo, ScoreProvenance } from "./types.js";

export interface CompareOptions {
  /** Names of what may differ (`allowedFields`). */
  allowed?: ReadonlySet<string> | undefined;
  /** Which scores; unless told, those that came with the episodes. */
  provenance?: ScoreProvenance | undefined;
  alpha?: number | undefined;
  margin?: number | undefined;
  seed?: number | undefined;
}

export interface TaskComparison {
  task: string;
  n_a: number;
  n_b: number;
  ungraded_a: number;
  ungraded_b: number;
  score_a: number | null;
  score_b: number | null;
  difference: number | null;
  /** Bootstrap over the task's replicas; null where there is nothing to resample, or no spread in it. */
  ci: Interval | null;
}

export interface Comparison {
  a: ComparedRun;
  b: ComparedRun;
  /** What differs between their conditions, all of it allowed. */
  differences: LockDifference[];
  /** Tasks of both. */
  tasks: TaskComparison[];
  only_a: string[];
  only_b: string[];
  paired: PairedDifference;
  regression: Regression;
  alpha: number;
  margin: number;
}

export interface ComparedRun {
  run: string;
  provenance: ScoreProvenance;
  operator: string;
  model: string | null;
  revision: string | null;
  status: RunInfo["status"];
}

/** How often at most two equal runs are called a regression, if nobody says. */
export const usualAlpha = 0.05;

/**
 * Compares run `b` with run `a`. @throws ShinkenError `unknown_run`, `bad_request` without a common task, `locks_differ` with all that differs and is not allowed
 */
export function compareRuns(store: RunStore, a: string, b: string, options: CompareOptions = {}): Comparison {
  const { allowed = new Set<string>(), alpha = usualAlpha, margin = 0, seed = 0 } = options;
  const sides = [a, b].map((named) => sideOf(store.named(named), options.provenance));
  const [left, right] = sides as [Side, Side];
  const differences = differencesOf(store, left, right);
  refuse(differences.filter((one) => !isAllowed(one, allowed)));
  const [first, second] = [left, right].map(({ run, provenance }) =>
    scoresByTask(store, run.id, provenance),
  ) as [Map<string, number[]>, Map<string, number[]>];
  const common = [...first.keys()].filter((task) => second.has(task));
  if (common.length === 0)
    throw new ShinkenError("bad_request", "the runs have no task in common", { path: "run" });
  const scores = (of: Map<string, number[]>): number[][] => common.map((task) => of.get(task) ?? []);
  return {
    a: told(left),
    b: told(right),
    differences,
    tasks: tasksOf(store, left, right, first, second, seed),
    only_a: [...first.keys()].filter((task) => !second.has(task)),
    only_b: [...second.keys()].filter((task) => !first.has(task)),
    paired: pairedDifference(scores(first), scores(second), { seed }),
    regression: regressionOf(scores(first), scores(second), { alpha, margin, seed }),
    alpha,
    margin,
  };
}

function sideOf(run: RunInfo, provenance: ScoreProvenance | undefined): Side {
  return { run, provenance: provenance ?? (run.source === "reported" ? "self_reported" : "recorded") };
}

function told({ run: { id, lock, status }, provenance }: Side): ComparedRun {
  const { operator, model, revision } = lock;
  return { run: id, provenance, operator, model, revision, status };
}

function tasksOf(
  store: RunStore,
  a: Side,
  b: Side,
  first: ReadonlyMap<string, number[]>,
  second: ReadonlyMap<string, number[]>,
  seed: number,
): TaskComparison[] {
  const rows = store.all<Omit<TaskComparison, "ci">>(
    `SELECT task, n_a, n_b, ungraded_a, ungraded_b, score_a, score_b, difference FROM comparisons
      WHERE run_a = @a AND run_b = @b AND provenance_a = @ofA AND provenance_b = @ofB ORDER BY task`,
    { a: a.run.id, b: b.run.id, ofA: a.provenance, ofB: b.provenance },
  );
  return rows.map((row) => {
    const ci = pairedDifference([first.get(row.task) ?? []], [second.get(row.task) ?? []], {
      seed,
    }).bootstrap;
    return { ...row, ci: ci === null || ci[0] === ci[1] ? null : ci };
  });
}

/** Differences that a message names; a run of many tasks may have more. */
const toldAtMost = 12;

function refuse(differences: readonly LockDifference[]): void {
  if (differences.length === 0) return;
  const lines = differences.slice(0, toldAtMost).map(sentence);
  const more = differences.length - lines.length;
  const names = new Set(differences.map(({ field }) => (field.startsWith("settings.") ? "settings" : field)));
  throw new ShinkenError(
    "locks_differ",
    `the runs were not played alike:\n  ${[...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n  ")}`,
    { suggestion: `--allow-different ${[...names].join(",")} compares them all the same` },
  );
}

/** A difference in words. */
export function sentence({ field, task, a, b }: LockDifference): string {
  return `${field}${task === null ? "" : ` of ${task}`}: ${a ?? "none"} and ${b ?? "none"}`;
}
