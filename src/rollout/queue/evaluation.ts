/** An evaluation as jobs: one for each replica of each task. What comes back is the report that `evaluateTaskSet` gives. */
import { createHash, randomUUID } from "node:crypto";
import { z } from "zod";
import type { LoadedTask, TaskVariant } from "../../env/task/index.js";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { type EpisodeOutcome, outcomeOf } from "../episode.js";
import { type EvaluationReport, report } from "../report.js";
import { subSeed } from "../seeds.js";
import type { JobQueue, NewJob } from "./types.js";

/** What a node is told of an episode. */
const episodeWork = z.strictObject({
  task: z.string(),
  /** Content hash of the task set: nodes have tasks of their own, and play no others. */
  taskSet: z.string(),
  runSeed: z.int().min(0),
  replica: z.int().min(0),
  /** Of the machine. */
  seed: z.int().min(0),
  operator: z.string(),
});
export type EpisodeWork = z.infer<typeof episodeWork>;
/** @throws ShinkenError `bad_request` */
export const parseWork = (payload: unknown): EpisodeWork => parseOrThrow(episodeWork, payload, "bad_request");

const evaluationPlan = z.strictObject({
  taskSet: z.string(),
  tasks: z.array(z.string()),
  operator: z.string(),
  replicas: z.int().min(1),
  seed: z.int().min(0),
  submittedMs: z.number(),
});
/** What the run's description says. */
export type EvaluationPlan = z.infer<typeof evaluationPlan>;

export interface SubmitOptions {
  tasks: readonly LoadedTask[];
  /** Content hash of the set. */
  digest: string;
  /** By its name: nodes make their own. */
  operator: string;
  replicas: number;
  seed: number;
  /** Submitting a run again adds what is missing, and nothing twice. A new one if unsaid. */
  run?: string | undefined;
  priority?: number | undefined;
  /** Leases of each job. */
  attempts?: number | undefined;
}

/** Gives the run's id. Rejects as `JobQueue.add` does. */
export async function submitEvaluation(queue: JobQueue, options: SubmitOptions): Promise<string> {
  const {
    tasks,
    digest: taskSet,
    operator,
    replicas,
    seed,
    run = randomUUID(),
    priority,
    attempts,
  } = options;
  const submittedMs = Date.now();
  const ids = tasks.map(({ id }) => id);
  const plan: EvaluationPlan = { taskSet, tasks: ids, operator, replicas, seed, submittedMs };
  await queue.describe(run, plan);
  const jobs: NewJob[] = [];
  // Replica by replica, as in one process.
  for (let replica = 0; replica < replicas; replica += 1) {
    for (const task of tasks) {
      const work: EpisodeWork = {
        task: task.id,
        taskSet,
        runSeed: seed,
        replica,
        seed: subSeed(seed, `${task.id}/${replica}`),
        operator,
      };
      const golden = goldenOf(variantOf(task, seed));
      jobs.push({ id: jobId(run, task.id, replica), run, golden, priority, attempts, payload: work });
    }
  }
  await queue.add(jobs);
  return run;
}

/** Task ids may hold what ids of jobs may not. */
const jobId = (run: string, task: string, replica: number): string =>
  `${run}/${createHash("sha256").update(task).digest("hex").slice(0, 24)}/${replica}`;

/** All replicas of a task have the parameters that the run's seed draws for it. */
export const variantOf = (task: LoadedTask, runSeed: number): TaskVariant =>
  task.variant({ seed: subSeed(runSeed, task.id) });

/** Names the golden that a variant is forked from, without an image: the same on every host. */
export function goldenOf({ task, setupDigest }: TaskVariant): string {
  const text = JSON.stringify([task.image, task.memory_mib, setupDigest]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

export interface CollectOptions {
  run: string;
  /** The set that was submitted, for the figures of its tasks. */
  tasks: readonly LoadedTask[];
  digest: string;
  /** Keeps outcomes before they are settled, and need not rejoice at one that it has: after a crash a batch may come again. */
  keep: (outcomes: readonly EpisodeOutcome[]) => Promise<void>;
  /** What was kept before. */
  kept: readonly EpisodeOutcome[];
  /** Ends the waiting; the report is then of what there is. */
  signal?: AbortSignal | undefined;
  /** Between two looks; 500 ms if unsaid. */
  pollMs?: number | undefined;
  onProgress?: ((done: number, all: number) => void) | undefined;
}

const defaultPollMs = 500;

/** Collects until every replica is there or dead, which is ungraded. @throws ShinkenError `unknown_run`, `bad_request` for another task set */
export async function collectEvaluation(queue: JobQueue, options: CollectOptions): Promise<EvaluationReport> {
  const { run, tasks, digest, keep, signal, onProgress, pollMs = defaultPollMs } = options;
  const plan = await planOf(queue, run);
  if (plan.taskSet !== digest)
    throw new ShinkenError("bad_request", `run ${run} is of the task set ${plan.taskSet}, not of ${digest}`, {
      path: "tasks",
    });
  const outcomes = new Map(options.kept.map((outcome) => [keyOf(outcome), outcome]));
  const all = plan.tasks.length * plan.replicas;
  for (;;) {
    const batch = await queue.collect(run);
    if (batch !== null) {
      const fresh = batch.results.map(({ result }) => result as EpisodeOutcome);
      await keep(fresh);
      await queue.settle(batch.claim);
      for (const outcome of fresh) outcomes.set(keyOf(outcome), outcome);
    }
    const dead = batch === null ? await queue.dead(run) : [];
    onProgress?.(outcomes.size + dead.length, all);
    if (batch !== null) continue;
    if (outcomes.size + dead.length < all && signal?.aborted !== true) {
      await pause(pollMs, signal);
      continue;
    }
    for (const { payload, reason } of dead) {
      const { task, replica, seed } = parseWork(payload);
      const attempt = { ...outcomeOf(task, replica, seed), reason: `queue: ${reason}` };
      outcomes.set(keyOf(attempt), attempt);
    }
    return reported(plan, run, tasks, [...outcomes.values()], all);
  }
}

/** @throws ShinkenError `unknown_run` */
export async function planOf(queue: JobQueue, run: string): Promise<EvaluationPlan> {
  const description = await queue.description(run);
  if (description === null)
    throw new ShinkenError("unknown_run", `the queue has no run ${run}`, { path: "run" });
  return parseOrThrow(evaluationPlan, description, "bad_request");
}

function reported(
  plan: EvaluationPlan,
  run: string,
  tasks: readonly LoadedTask[],
  outcomes: EpisodeOutcome[],
  all: number,
): EvaluationReport {
  const place = new Map(plan.tasks.map((id, index) => [id, index]));
  outcomes.sort((a, b) => a.replica - b.replica || (place.get(a.task) ?? 0) - (place.get(b.task) ?? 0));
  return report({
    run,
    variants: tasks.filter(({ id }) => place.has(id)).map((task) => variantOf(task, plan.seed)),
    outcomes,
    replicas: plan.replicas,
    seed: plan.seed,
    operator: plan.operator,
    digest: plan.taskSet,
    bestOf: undefined,
    pipeline: null,
    notPlayed: all - outcomes.length,
    seconds: (Date.now() - plan.submittedMs) / 1_000,
  });
}

const keyOf = ({ task, replica }: Pick<EpisodeOutcome, "task" | "replica">): string => `${task}\0${replica}`;

/** Sooner where `signal` is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
