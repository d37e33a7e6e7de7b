/** One evaluation under way: every node once, each leaf's result, and what judges may not decide. */
import { ShinkenError } from "../errors/index.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { EpisodeFacts } from "./channels/channel.js";

import {
  type Child,
  combineAll,
  combineAny,
  combineFallback,
  combineNot,
  combineSequence,
  combineWeighted,
  heldBack,
  isPass,
  type Outcome,
  reaches,
  settles,
} from "./combine.js";
import type { Forks } from "./forks.js";
import type { LoadedGraph } from "./graph.js";
import {
  childrenOf,
  type CombinationNode,
  combinationKind,
  type GraphNode,
  isJudge,
  isLeaf,
  type LeafNode,
} from "./schema.js";
import type { JudgeModel } from "./judge/model.js";
import { type Finding, LeafRun, type LeafSources } from "./leaf.js";
import type { CheckResult } from "./verdict.js";

export interface GradeContext {
  /**
   * Makes a grading fork of the session's machine: workload frozen, `verify.prepare` done. The evaluation closes what it
   * took. A rejection leaves the checks that need a machine ungraded.
   * @param machine name of a service; the agent's machine if unsaid
   */
  fork(machine?: string): Promise<Sandbox>;
  episode: EpisodeFacts;
  /** Reads a grading asset; `TaskVariant.readAsset`. Unsaid: there are none. */
  readAsset?: ((path: string) => Promise<Uint8Array>) | undefined;
  /** Answers judge nodes; unsaid: they are ungraded. */
  judge?: JudgeModel | undefined;
  /** Called with each check's result as soon as it is known, in graph order. */
  onCheck?: ((result: CheckResult) => void) | undefined;
  /** Ends the evaluation; it rejects with `cancelled`. */
  signal?: AbortSignal | undefined;
}

/** Votes of each judge where no program stands behind the verdict. */
const JUDGED_ONLY_QUORUM = 3;

export class Evaluation {
  /** The first failure of the harness that left a check ungraded. */
  fault: ShinkenError | null = null;
  private readonly loaded: LoadedGraph;
  private readonly context: GradeContext;
  /** Milestones that are taken as passed without asking. */
  private readonly kept: ReadonlySet<string>;
  private readonly runs = new Map<string, LeafRun>();
  private readonly outcomes = new Map<GraphNode, Promise<Outcome>>();
  private readonly found = new Map<string, CheckResult>();
  private readonly sources: LeafSources;

  constructor(
    loaded: LoadedGraph,
    context: GradeContext,
    forks: Forks,
    checks: readonly LeafNode[],
    kept: ReadonlySet<string>,
  ) {
    this.loaded = loaded;
    this.context = context;
    this.kept = kept;
    this.sources = {
      forks,
      episode: context.episode,
      readAsset: context.readAsset ?? noAssets,
      modules: loaded.modules,
      scorers: loaded.scorers,
      judge: context.judge,
      quorum: loaded.judgedOnly ? JUDGED_ONLY_QUORUM : 1,
      readsDone: async () => {
        for (const run of this.runs.values()) await run.prefetchDone();
      },
      signal: context.signal,
    };
    for (const check of checks) {
      if (!loaded.deferred.has(check.id)) this.run(check).prefetch();
    }
  }

  /** Results of the checks evaluated so far, in graph order. */
  results(): CheckResult[] {
    return this.loaded.checks.flatMap(({ id }) => this.found.get(id) ?? []);
  }

  outcome(node: GraphNode): Promise<Outcome> {
    const known = this.outcomes.get(node);
    if (known !== undefined) return known;
    const made = this.work(node);
    this.outcomes.set(node, made);
    return made;
  }

  /** What the whole graph comes to. */
  async verdictOutcome(): Promise<Outcome> {
    const { root, threshold } = this.loaded;
    return heldBack(await this.outcome(root), await this.withoutJudges(root), threshold);
  }

  /** Leaves that a `fallback` did not come to. */
  skipUnasked(): void {
    for (const leaf of this.loaded.checks) {
      if (this.found.has(leaf.id)) continue;
      this.record(leaf, { kind: "skipped", reason: "not needed: what stands before it decided" }, 0);
    }
  }

  private run(check: LeafNode): LeafRun {
    let run = this.runs.get(check.id);
    if (run === undefined) {
      run = new LeafRun(check, this.sources);
      this.runs.set(check.id, run);
    }
    return run;
  }

  private async work(node: GraphNode): Promise<Outcome> {
    if (isLeaf(node) && this.kept.has(node.id)) return { kind: "scored", score: 1 };
    const start = performance.now();
    const unmet = await this.unmetNeed(node);
    if (isLeaf(node)) {
      const finding = unmet === undefined ? await this.run(node).evaluate() : unmet;
      return this.record(node, finding, performance.now() - start);
    }
    return unmet ?? this.combine(node);
  }

  /** The outcome of a node that needs what did not pass. */
  private async unmetNeed(node: GraphNode): Promise<Outcome | undefined> {
    for (const id of node.needs) {
      const needed = this.loaded.nodes.get(id);
      if (needed === undefined) throw new Error(`proved graph names the unknown node ${id}`);
      const outcome = await this.outcome(needed);
      if (outcome.kind === "ungraded")
        return { ...outcome, reason: `needs ${id}, which is ungraded: ${outcome.reason}` };
      if (!isPass(outcome, needed.threshold))
        return { kind: "skipped", reason: `needs ${id}, which did not pass` };
    }
    return undefined;
  }

  private async combine(node: CombinationNode): Promise<Outcome> {
    const children: Child[] = [];
    for (const child of childrenOf(node)) {
      const outcome = await this.outcome(child);
      children.push({ outcome, weight: child.weight, threshold: child.threshold });
      if ("fallback" in node && settles(outcome)) break;
    }
    return heldBack(combineAs(node, children), await this.withoutJudges(node), node.threshold);
  }

  /** What a node with judges comes to without them; undefined where nothing is left, or nothing to leave out. */
  private async withoutJudges(node: GraphNode): Promise<Outcome | undefined> {
    if (isLeaf(node) || !hasJudge(node)) return undefined;
    const children: Child[] = [];
    for (const child of childrenOf(node)) {
      if (isJudge(child)) continue;
      const outcome = hasJudge(child) ? await this.withoutJudges(child) : await this.outcome(child);
      if (outcome === undefined) continue;
      children.push({ outcome, weight: child.weight, threshold: child.threshold });
      if ("fallback" in node && settles(outcome)) break;
    }
    return children.length === 0 ? undefined : combineAs(node, children);
  }

  private record(check: LeafNode, finding: Finding | Outcome, ms: number): Outcome {
    const { outcome, evidence } = asOutcome(check.id, finding);
    if ("fault" in finding) this.fault ??= finding.fault ?? null;
    const result: CheckResult = {
      id: check.id,
      status: statusOf(outcome, check.threshold),
      score: outcome.kind === "scored" ? outcome.score : null,
      weight: check.weight,
      evidence,
      ms,
      ...("judge" in finding && finding.judge !== undefined ? { judge: finding.judge } : {}),
    };
    this.found.set(check.id, result);
    if (this.context.signal?.aborted !== true) this.context.onCheck?.(result);
    return outcome;
  }
}

function hasJudge(node: GraphNode): boolean {
  return isJudge(node) || childrenOf(node).some(hasJudge);
}

function combineAs(node: CombinationNode, children: readonly Child[]): Outcome {
  switch (combinationKind(node)) {
    case "all":
      return combineAll(children);
    case "any":
      return combineAny(children);
    case "weighted":
      return combineWeighted(children);
    case "sequence":
      return combineSequence(children);
    case "fallback":
      return combineFallback(children);
    case "not":
      return combineNot((children[0] as Child).outcome);
  }
}

function asOutcome(id: string, finding: Finding | Outcome): { outcome: Outcome; evidence: string } {
  if ("kind" in finding)
    return { outcome: finding, evidence: finding.kind === "scored" ? "" : finding.reason };
  if ("ungraded" in finding) {
    return {
      outcome: {
        kind: "ungraded",
        reason: `${id}: ${finding.ungraded}`,
        ...(finding.fault === undefined ? {} : { harness: true }),
      },
      evidence: finding.ungraded,
    };
  }
  return { outcome: { kind: "scored", score: finding.score }, evidence: finding.evidence };
}

function statusOf(outcome: Outcome, threshold: number): CheckResult["status"] {
  if (outcome.kind !== "scored") return outcome.kind;
  return reaches(outcome.score, threshold) ? "passed" : "failed";
}

function noAssets(path: string): Promise<Uint8Array> {
  return Promise.reject(new ShinkenError("grader_error", `there is no asset "${path}"`));
}
