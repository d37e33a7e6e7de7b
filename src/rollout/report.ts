import type { TaskVariant } from "../env/task/index.js";
import type { EpisodeOutcome } from "./episode.js";
import {
  costOf,
  type Efficiency,
  efficiencyOf,
  efficiencyTaskOf,
  type PriceTable,
} from "./efficiency/index.js";
import type { Until } from "./evaluate.js";
import type { BestOfOptions } from "./pipeline/best-of.js";
import type { PipelineMetrics } from "./pipeline/index.js";
import { subSeed } from "./seeds.js";
import {
  bootstrapMean,
  defaultResamples,
  icc1,
  type Interval,
  mean,
  narrowEnough,
  passAtK,
  passHatK,
  quantile,
  wilson,
} from "./statistics/index.js";

export interface TaskReport {
  id: string;
  version: string;
  /** Graded replicas; all figures below are of these. */
  n: number;
  passed: number;
  /** Replicas without a verdict, counted beside. */
  ungraded: number;
  /** Why, each reason once. */
  ungraded_reasons: string[];
  score_mean: number | null;
  /** Null where each replica is the best of several tries: that is no pass@1. */
  pass_at_1: number | null;
  /** The chance that `k` replicas all pass; null if fewer than `k` were graded, and for the best of several tries. */
  pass_hat_k: number | null;
  /** Share of replicas whose chosen try passed; null where each replica is one try. */
  best_of_n: number | null;
  /** 95 % interval of it: `ci` to the power of `k`. */
  pass_hat_k_ci: [number, number];
  k: number;
  /** 95 % interval of pass@1, or of best_of_n: Wilson's, or where replicas were added until it was narrow, one that may be looked at often. */
  ci: [number, number];
  milestones: { earned_mean: number | null; total: number };
  steps_mean: number | null;
  human_steps: number | null;
}

export interface Spread {
  p50: number | null;
  p99: number | null;
}

export interface EvaluationReport {
  /** Id of the run: a label of its bundles, and its name in the run store. */
  run: string;
  operator: string;
  /** Where each replica is the best of several tries: how many, chosen by which rule, sharing how many steps. */
  best_of: { n: number; rule: string; from_step: number } | null;
  /** Where replicas were added until the interval was so narrow, and how many there might be. */
  until: { width: number; most: number } | null;
  /** Replicas that were planned when somebody ended the run, and were not played; 0 for a whole run. */
  not_played: number;
  replicas: number;
  seed: number;
  /** Content hash of the task set. */
  task_set: string | null;
  tasks: TaskReport[];
  /** Means over tasks, each task with the same weight. */
  total: {
    tasks: number;
    n: number;
    passed: number;
    ungraded: number;
    score_mean: number | null;
    /** 95 % hierarchical bootstrap interval of it, seeded by the run's seed; null where too little was graded. */
    score_ci: Interval | null;
    /** Share of the scores' variance that lies between tasks, with its interval. */
    icc1: number | null;
    icc1_ci: Interval | null;
    pass_at_1: number | null;
    pass_hat_k: number | null;
    best_of_n: number | null;
    k: number;
  };
  /** What it cost; of the best of several tries only the chosen one. */
  efficiency: Efficiency;
  timing: {
    /** Of a run that went on, its last part; of a queue, from handing it in to this report, however long that waited. */
    seconds: number;
    /** Taken in these seconds. */
    steps: number;
    /** Steps over the whole time, resets and grading included; null where nodes of a queue played. */
    steps_per_s: number | null;
    ready_ms: Spread;
    reset_ms: Spread;
    step_ms: Spread;
    evaluate_ms: Spread;
  };
  /** What the pools have been doing; null where nodes of a queue played, each with pools of its own. */
  pipeline: PipelineMetrics | null;
  episodes: EpisodeOutcome[];
}

interface Played {
  run: string;
  bestOf: BestOfOptions | undefined;
  until?: Until | undefined;
  notPlayed: number;
  /** Steps that an earlier part of the run has taken. */
  stepsBefore?: number | undefined;
  prices?: PriceTable | undefined;
  pipeline: PipelineMetrics | null;
  variants: readonly TaskVariant[];
  outcomes: EpisodeOutcome[];
  replicas: number;
  seed: number;
  operator: string;
  digest: string | null;
  seconds: number;
}

/** Sums up what was played. */
export function report(played: Played): EvaluationReport {
  const { outcomes, replicas: k, bestOf } = played;
  const tasks = played.variants.map((variant) => taskReport(variant, played));
  const defined = (values: (number | null)[]) => mean(values.filter((value) => value !== null));
  const spread = (values: number[]): Spread => ({ p50: quantile(values, 0.5), p99: quantile(values, 0.99) });
  const steps = outcomes.reduce((sum, outcome) => sum + outcome.steps, 0) - (played.stepsBefore ?? 0);
  const scores = played.variants.map(({ task }) => scoresOf(task.id, outcomes));
  const correlation = icc1(scores);
  const byId = new Map(played.variants.map((variant) => [variant.task.id, variant]));
  return {
    run: played.run,
    operator: played.operator,
    best_of:
      bestOf === undefined ? null : { n: bestOf.n, rule: bestOf.rule, from_step: bestOf.fromStep ?? 0 },
    until: played.until === undefined ? null : { width: played.until.width, most: played.until.most },
    not_played: played.notPlayed,
    replicas: k,
    seed: played.seed,
    task_set: played.digest,
    tasks,
    total: {
      tasks: tasks.length,
      n: tasks.reduce((sum, task) => sum + task.n, 0),
      passed: tasks.reduce((sum, task) => sum + task.passed, 0),
      ungraded: tasks.reduce((sum, task) => sum + task.ungraded, 0),
      score_mean: defined(tasks.map((task) => task.score_mean)),
      score_ci: bootstrapMean(scores, {
        seed: subSeed(played.seed, "statistics"),
        resamples: resamplesFor(scores),
      }).ci,
      icc1: correlation.value,
      icc1_ci: correlation.ci,
      pass_at_1: defined(tasks.map((task) => task.pass_at_1)),
      pass_hat_k: defined(tasks.map((task) => task.pass_hat_k)),
      best_of_n: defined(tasks.map((task) => task.best_of_n)),
      k,
    },
    timing: {
      seconds: played.seconds,
      steps,
      steps_per_s: pace(played, steps),
      ready_ms: spread(outcomes.map(({ readyMs }) => readyMs).filter((ms) => ms !== null)),
      reset_ms: spread(outcomes.filter(({ resetMs }) => resetMs > 0).map(({ resetMs }) => resetMs)),
      step_ms: spread(outcomes.flatMap(({ stepMs }) => stepMs)),
      evaluate_ms: spread(
        outcomes.filter(({ evaluateMs }) => evaluateMs > 0).map(({ evaluateMs }) => evaluateMs),
      ),
    },
    efficiency: efficiencyOf({
      tasks: played.variants.map(efficiencyTaskOf),
      episodes: outcomes.flatMap((outcome) => {
        const variant = byId.get(outcome.task);
        return variant === undefined ? [] : [costOf(outcome, variant)];
      }),
      prices: played.prices,
    }),
    pipeline: played.pipeline,
    episodes: outcomes,
  };
}

const pace = ({ pipeline, seconds }: Played, steps: number): number | null =>
  pipeline === null ? null : seconds > 0 ? steps / seconds : 0;

const scoresOf = (task: string, outcomes: readonly EpisodeOutcome[]): number[] =>
  outcomes.flatMap((outcome) =>
    outcome.task === task && outcome.status === "graded" ? (outcome.score ?? []) : [],
  );

/** A run must not fail for the interval of its own report: where very many scores differ, fewer resamples do. */
const resamplesFor = (scores: readonly (readonly number[])[]): number =>
  scores.reduce((sum, { length }) => sum + length, 0) > manyScores ? fewResamples : defaultResamples;
const manyScores = 20_000;
const fewResamples = 500;

function taskReport(variant: TaskVariant, { outcomes, replicas: k, bestOf, until }: Played): TaskReport {
  const { id, version, human } = variant.task;
  const mine = outcomes.filter(({ task }) => task === id);
  const graded = mine.filter(({ status }) => status === "graded");
  const n = graded.length;
  const passed = graded.filter((outcome) => outcome.passed === true).length;
  const chosen = bestOf !== undefined;
  const ci = until === undefined ? wilson(n, passed) : narrowEnough(n, passed, until).ci;
  const reasons = mine
    .filter(({ status }) => status === "ungraded")
    .map(({ reason }) => reason ?? "no reason was given");
  return {
    id,
    version,
    n,
    passed,
    ungraded: mine.length - n,
    ungraded_reasons: [...new Set(reasons)],
    score_mean: mean(graded.map(({ score }) => score ?? 0)),
    pass_at_1: chosen ? null : passAtK(n, passed, 1),
    pass_hat_k: chosen ? null : passHatK(n, passed, k),
    best_of_n: chosen ? passAtK(n, passed, 1) : null,
    pass_hat_k_ci: [ci[0] ** k, ci[1] ** k],
    k,
    ci,
    milestones: {
      earned_mean: mean(graded.map(({ milestones }) => milestones.length)),
      total: variant.graph.milestones.length,
    },
    steps_mean: mean(graded.map(({ steps }) => steps)),
    human_steps: human?.steps ?? null,
  };
}
