import { randomUUID } from "node:crypto";
import type { LoadedTask, TaskVariant } from "../env/task/index.js";
import { ShinkenError } from "../errors/index.js";
import type { Operator } from "../operator/index.js";
import type { EpisodeOutcome, RolloutClient } from "./episode.js";
import { type BestOfOptions, chosenOutcome, playBestOf } from "./pipeline/best-of.js";
import { type EpisodeJob, Pipeline, type PipelineMetrics, type PipelineOptions } from "./pipeline/index.js";
import type { PriceTable } from "./efficiency/index.js";
import { type EvaluationReport, report } from "./report.js";
import { subSeed } from "./seeds.js";
import { narrowEnough, type Wanted } from "./statistics/index.js";

export interface EvaluateOptions {
  tasks: readonly LoadedTask[];
  /** Content hash of the set, for the report. */
  digest?: string;
  operator: Operator;
  /** Replicas of each task. */
  replicas: number;
  /** Run seed: the same seed, the same parameters, machines and scores. */
  seed: number;
  /** A connection to the server that holds the same tasks; closed at the end. */
  connect: () => Promise<RolloutClient>;
  /** Sizes of pools, budgets, retries. */
  pipeline?: Omit<PipelineOptions, "client"> | undefined;
  /** Id of the run, in the report and in the labels of its bundles; a random one if unsaid. */
  run?: string | undefined;
  /** Each replica is the best of several tries. */
  bestOf?: BestOfOptions | undefined;
  /** More replicas of a task whose figures are not narrow enough yet. */
  until?: Until | undefined;
  /** What an earlier part of the run has played: not played again. */
  before?: readonly EpisodeOutcome[] | undefined;
  /** For models that do not tell what they cost. */
  prices?: PriceTable | undefined;
  /** Ends the run early: what plays is stopped, what waits is not begun, and the report is of what is done. */
  signal?: AbortSignal | undefined;
  /** Told as each episode ends. */
  onEpisode?: ((outcome: EpisodeOutcome, done: number, all: number) => void) | undefined;
  /** Told once, before the first episode: what the pipeline is doing, at any time. */
  onStart?: ((metrics: () => PipelineMetrics) => void) | undefined;
}

/** Replicas beyond the first ones, until the interval of a task's pass@1 is narrow enough. */
export interface Until extends Wanted {
  /** Replicas of a task at most. */
  most: number;
}

/**
 * Plays every task `replicas` times against a server and grades each episode. All replicas of a task have the same
 * parameters, drawn from the run seed: pass^k asks whether the same problem is solved every time.
 */
export async function evaluateTaskSet(options: EvaluateOptions): Promise<EvaluationReport> {
  if (!Number.isInteger(options.replicas) || options.replicas < 1)
    throw new ShinkenError("bad_request", "replicas: must be an integer of at least 1", { path: "replicas" });
  const client = await options.connect();
  try {
    return await new Evaluation(options, client).play();
  } finally {
    await client.close();
  }
}

class Evaluation {
  private readonly options: EvaluateOptions;
  private readonly pipeline: Pipeline;
  private readonly run: string;
  private readonly variants: readonly TaskVariant[];
  private readonly outcomes = new Map<string, EpisodeOutcome>();
  private all = 0;
  private done = 0;

  constructor(options: EvaluateOptions, client: RolloutClient) {
    this.options = options;
    this.pipeline = new Pipeline({ ...options.pipeline, client });
    this.run = options.run ?? randomUUID();
    this.variants = options.tasks.map((task) => task.variant({ seed: subSeed(options.seed, task.id) }));
    for (const outcome of options.before ?? []) this.outcomes.set(key(outcome), outcome);
  }

  async play(): Promise<EvaluationReport> {
    const { options, pipeline, variants } = this;
    const began = performance.now();
    options.onStart?.(() => pipeline.metrics());
    try {
      // Replica by replica, not task by task: a long task does not stand alone at the end.
      const first = new Map(variants.map((variant): [TaskVariant, Promise<void>[]] => [variant, []]));
      for (let replica = 0; replica < options.replicas; replica += 1) {
        for (const [variant, playing] of first) playing.push(this.replica(variant, replica));
      }
      const each = [...first].map(([variant, playing]) => this.untilNarrow(variant, playing));
      await Promise.all(each);
    } finally {
      pipeline.close();
    }
    return report({
      run: this.run,
      variants,
      outcomes: this.sorted(),
      replicas: options.replicas,
      seed: options.seed,
      operator: options.operator.name,
      digest: options.digest ?? null,
      bestOf: options.bestOf,
      until: options.until,
      pipeline: pipeline.metrics(),
      notPlayed: this.all - this.done,
      stepsBefore: (options.before ?? []).reduce((sum, { steps }) => sum + steps, 0),
      prices: options.prices,
      seconds: (performance.now() - began) / 1_000,
    });
  }

  /** One replica after another once the first ones are over, for as long as the figures stay wide. */
  private async untilNarrow(variant: TaskVariant, first: readonly Promise<void>[]): Promise<void> {
    await Promise.all(first);
    const { until, replicas, signal } = this.options;
    if (until === undefined) return;
    for (let replica = replicas; replica < until.most && signal?.aborted !== true; replica += 1) {
      const graded = [...this.outcomes.values()].filter(
        ({ task, status }) => task === variant.task.id && status === "graded",
      );
      const passed = graded.filter((outcome) => outcome.passed === true).length;
      if (narrowEnough(graded.length, passed, until).enough) return;
      await this.replica(variant, replica);
    }
  }

  private async replica(variant: TaskVariant, replica: number): Promise<void> {
    const { options, pipeline } = this;
    const { operator, bestOf, signal } = options;
    this.all += 1;
    const known = this.outcomes.get(key({ task: variant.task.id, replica }));
    if (known !== undefined) {
      this.done += 1;
      return;
    }
    const seed = subSeed(options.seed, `${variant.task.id}/${replica}`);
    const job: EpisodeJob = { variant, operator, replica, seed, labels: { run: this.run } };
    const outcome =
      bestOf === undefined
        ? await pipeline.play(job, signal)
        : chosenOutcome(await playBestOf(pipeline, job, bestOf, signal));
    // Cut short by whoever ended the run: it has not been played.
    if (signal?.aborted === true && outcome.attempts.at(-1)?.code === "cancelled") return;
    this.done += 1;
    this.outcomes.set(key(outcome), outcome);
    options.onEpisode?.(outcome, this.done, this.all);
  }

  /** Replica by replica, in the order of the tasks. */
  private sorted(): EpisodeOutcome[] {
    const place = new Map(this.variants.map(({ task }, index) => [task.id, index]));
    return [...this.outcomes.values()]
      .filter(({ task }) => place.has(task))
      .sort((a, b) => a.replica - b.replica || (place.get(a.task) ?? 0) - (place.get(b.task) ?? 0));
  }
}

const key = ({ task, replica }: Pick<EpisodeOutcome, "task" | "replica">): string => `${task}\0${replica}`;
