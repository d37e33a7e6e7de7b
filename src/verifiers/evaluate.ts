/** Evaluating a graph: every check once, combinations after `docs/verifiers.md`, forks closed whatever happens. */
import { ShinkenError } from "../errors/index.js";
import { reaches } from "./combine.js";
import { Evaluation, type GradeContext } from "./evaluation.js";
import { Forks } from "./forks.js";
import type { LoadedGraph, Milestone } from "./graph.js";
import type { LeafNode } from "./schema.js";
import type { CheckResult, Verdict } from "./verdict.js";

export type { GradeContext };

export interface MilestoneReport {
  /** Results of the checks that were evaluated, in graph order. */
  results: CheckResult[];
  /** Milestones that hold now and were not earned before. */
  earned: Milestone[];
  /** Revocable milestones that were earned and no longer hold. An ungraded one is kept. */
  lost: Milestone[];
  /** The first failure of the harness that left one of them ungraded; null if there was none. */
  fault: ShinkenError | null;
}

/**
 * Grades a machine's state. Rejects only with `cancelled`; everything else that goes wrong is an `ungraded` verdict with a
 * reason. The same state gives the same verdict, times aside.
 */
export async function evaluateGraph(loaded: LoadedGraph, context: GradeContext): Promise<Verdict> {
  return withEvaluation(loaded, context, loaded.checks, new Set(), async (evaluation) => {
    for (const check of loaded.checks) {
      refuseCancelled(context.signal);
      if (!loaded.deferred.has(check.id)) await evaluation.outcome(check);
    }
    const outcome = await evaluation.verdictOutcome();
    evaluation.skipUnasked();
    const common = {
      task: loaded.task,
      taskVersion: loaded.taskVersion,
      verifierVersion: loaded.verifierVersion,
      ...(loaded.judgedOnly ? { judgedOnly: true as const } : {}),
      checks: evaluation.results(),
    };
    if (outcome.kind === "ungraded") {
      return { ...common, status: "ungraded", score: null, passed: null, reason: outcome.reason };
    }
    const score = outcome.kind === "scored" ? outcome.score : 0;
    return { ...common, status: "graded", score, passed: reaches(score, loaded.threshold) };
  });
}

/**
 * Evaluates the milestones that are not yet earned, those that can be lost again, and what they need. `earned` holds the
 * ids of milestones earned so far; one that is earned for good satisfies whoever needs it.
 */
export async function evaluateMilestones(
  loaded: LoadedGraph,
  context: GradeContext,
  earned: ReadonlySet<string> = new Set(),
): Promise<MilestoneReport> {
  const asked = loaded.milestones.filter(({ id, revocable }) => revocable || !earned.has(id));
  if (asked.length === 0) return { results: [], earned: [], lost: [], fault: null };
  const wanted = new Set(asked.map(({ id }) => id));
  const kept = new Set(
    loaded.milestones.filter(({ id }) => earned.has(id) && !wanted.has(id)).map(({ id }) => id),
  );
  const checks = loaded.checks.filter(({ id }) => wanted.has(id));
  return withEvaluation(loaded, context, checks, kept, async (evaluation) => {
    for (const check of checks) {
      refuseCancelled(context.signal);
      await evaluation.outcome(check);
    }
    const results = evaluation.results();
    const statusOf = new Map(results.map(({ id, status }) => [id, status]));
    return {
      results,
      earned: asked.filter(({ id }) => !earned.has(id) && statusOf.get(id) === "passed"),
      lost: asked.filter(
        ({ id }) => earned.has(id) && ["failed", "skipped"].includes(statusOf.get(id) ?? ""),
      ),
      fault: evaluation.fault,
    };
  });
}

async function withEvaluation<T>(
  loaded: LoadedGraph,
  context: GradeContext,
  checks: readonly LeafNode[],
  kept: ReadonlySet<string>,
  work: (evaluation: Evaluation) => Promise<T>,
): Promise<T> {
  refuseCancelled(context.signal);
  const forks = new Forks((machine) => context.fork(machine));
  try {
    const result = await work(new Evaluation(loaded, context, forks, checks, kept));
    refuseCancelled(context.signal);
    return result;
  } finally {
    await forks.closeAll();
  }
}

function refuseCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true)
    throw new ShinkenError("cancelled", "the evaluation was cancelled", { cause: signal.reason });
}
