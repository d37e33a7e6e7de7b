import { bootstrapMean } from "./bootstrap.js";
import { icc1 } from "./icc.js";
import type { StatisticsInput, TaskScores } from "./input.js";
import { passAtK, passHatK } from "./pass.js";
import { clopperPearson, type Interval, wilson } from "./share.js";
import { mean } from "./summary.js";

/** Figures of one task; the names are those of `shinken stats --json`. */
export interface TaskStatistics {
  /** Graded replicas; the figures are of these. */
  n: number;
  /** Graded replicas with a score of 1, the whole score. */
  passed: number;
  /** Replicas without a score, counted beside. */
  ungraded: number;
  pass_at_k: number | null;
  pass_hat_k: number | null;
  wilson: Interval | null;
  clopper_pearson: Interval | null;
}

export interface StatisticsReport {
  per_task: TaskStatistics[];
  /** Means over the tasks that have the figure, each with the same weight. */
  pass_at_k: number | null;
  pass_hat_k: number | null;
  score_mean: number | null;
  score_ci: Interval | null;
  icc1: number | null;
  icc1_ci: Interval | null;
  ungraded: number;
  /** By the path of a figure: why it is null, or of which tasks it is if not of all, or why it says less than it seems. */
  reasons: Record<string, string>;
}

/** A replica passed if its score is 1: a part of the score is no pass. */
const passedScore = 1;

/** All figures of scores, ungraded replicas beside. */
export function statisticsOf(input: StatisticsInput): StatisticsReport {
  const { tasks, k, confidence, seed, resamples } = input;
  const reasons: Record<string, string> = {};
  const because = (reason: string, ...paths: string[]): void => {
    for (const path of paths) reasons[path] = reason;
  };
  const intervals = intervalsOf(confidence);
  const per_task = tasks.map((scores, index) => {
    const found = taskStatistics(scores, k, intervals);
    const at = `per_task[${index}]`;
    if (found.pass_at_k === null)
      because(`graded replicas: ${found.n}, fewer than k = ${k}`, `${at}.pass_at_k`, `${at}.pass_hat_k`);
    if (found.n === 0) because("no graded replica", `${at}.wilson`, `${at}.clopper_pearson`);
    return found;
  });
  const told = per_task.filter(({ pass_at_k }) => pass_at_k !== null);
  if (told.length === 0) because(`no task has k = ${k} graded replicas`, "pass_at_k", "pass_hat_k");
  else if (told.length < tasks.length)
    because(
      `of ${told.length} of ${tasks.length} tasks: the others have fewer than k = ${k} graded replicas`,
      "pass_at_k",
      "pass_hat_k",
    );
  const graded = tasks.map(gradedOf);
  const score = bootstrapMean(graded, { seed, resamples, confidence });
  const empty = graded.filter(({ length }) => length === 0).length;
  if (score.value === null) because("no graded replica", "score_mean");
  else if (empty > 0)
    because(
      `of ${tasks.length - empty} of ${tasks.length} tasks: the others have no graded replica`,
      "score_mean",
    );
  if (score.reason !== null) because(score.reason, "score_ci");
  const icc = icc1(graded, confidence);
  if (icc.reason !== null) because(icc.reason, "icc1", "icc1_ci");
  return {
    per_task,
    pass_at_k: mean(told.map(({ pass_at_k }) => pass_at_k ?? 0)),
    pass_hat_k: mean(told.map(({ pass_hat_k }) => pass_hat_k ?? 0)),
    score_mean: score.value,
    score_ci: score.ci,
    icc1: icc.value,
    icc1_ci: icc.ci,
    ungraded: per_task.reduce((sum, { ungraded }) => sum + ungraded, 0),
    reasons,
  };
}

const gradedOf = (scores: TaskScores): number[] => scores.filter((score) => score !== null);

interface Intervals {
  wilson: Interval;
  clopper_pearson: Interval;
}

/** Both intervals of a count; tasks with the same counts share them. */
function intervalsOf(confidence: number): (n: number, passed: number) => Intervals {
  const known = new Map<string, Intervals>();
  return (n, passed) => {
    const key = `${n} ${passed}`;
    let found = known.get(key);
    if (found === undefined) {
      found = {
        wilson: wilson(n, passed, confidence),
        clopper_pearson: clopperPearson(n, passed, confidence),
      };
      known.set(key, found);
    }
    return found;
  };
}

function taskStatistics(
  scores: TaskScores,
  k: number,
  intervals: (n: number, passed: number) => Intervals,
): TaskStatistics {
  const graded = gradedOf(scores);
  const n = graded.length;
  const passed = graded.filter((score) => score === passedScore).length;
  return {
    n,
    passed,
    ungraded: scores.length - n,
    pass_at_k: passAtK(n, passed, k),
    pass_hat_k: passHatK(n, passed, k),
    ...(n === 0 ? { wilson: null, clopper_pearson: null } : intervals(n, passed)),
  };
}
