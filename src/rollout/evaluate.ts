import { createHash, randomUUID } from "node:crypto";
import type { LoadedTask } from "../env/task/index.js";
import { ShinkenError } from "../errors/index.js";
import type { Operator } from "../operator/index.js";
import { type EpisodeOutcome, playEpisode, type RolloutClient } from "./episode.js";
import { mapBounded } from "./pool.js";
import { type EvaluationReport, report } from "./report.js";

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
  /** Episodes at the same time; 4 if unsaid. */
  concurrency?: number;
  /** Told as each episode ends. */
  onEpisode?: (outcome: EpisodeOutcome, done: number, all: number) => void;
}

const defaultConcurrency = 4;

/**
 * Plays every task `replicas` times against a server and grades each episode. All replicas of a task have the same
 * parameters, drawn from the run seed: pass^k asks whether the same problem is solved every time.
 */
export async function evaluateTaskSet(options: EvaluateOptions): Promise<EvaluationReport> {
  const { tasks, operator, replicas, seed } = options;
  if (!Number.isInteger(replicas) || replicas < 1) {
    throw new ShinkenError("bad_request", "replicas: must be an integer of at least 1", { path: "replicas" });
  }
  const variants = new Map(tasks.map((task) => [task.id, task.variant({ seed: subSeed(seed, task.id) })]));
  // Replica by replica, not task by task: a long task does not stand alone at the end.
  const plan = Array.from({ length: replicas }, (_, replica) =>
    [...variants.values()].map((variant) => ({ variant, replica })),
  );
  const client = await options.connect();
  const run = randomUUID();
  let done = 0;
  const began = performance.now();
  try {
    const outcomes = await mapBounded(
      plan.flat(),
      options.concurrency ?? defaultConcurrency,
      async ({ variant, replica }) => {
        const outcome = await playEpisode(
          client,
          variant,
          operator,
          replica,
          subSeed(seed, `${variant.task.id}/${replica}`),
          run,
        );
        done += 1;
        options.onEpisode?.(outcome, done, replicas * variants.size);
        return outcome;
      },
    );
    return report({
      variants: [...variants.values()],
      outcomes,
      replicas,
      seed,
      operator: operator.name,
      digest: options.digest ?? null,
      seconds: (performance.now() - began) / 1_000,
    });
  } finally {
    await client.close();
  }
}

/** A seed of 48 bits for one part of a run. */
export function subSeed(seed: number, part: string): number {
  return createHash("sha256").update(`shinken-rollout\0${seed}\0${part}`).digest().readUIntBE(0, 6);
}
