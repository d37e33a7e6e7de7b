/** A proven graph, ready to be evaluated. */
import { digestOf } from "./canonical.js";
import { moduleOf } from "./channels/module/registry.js";
import { MODULE_FILE } from "./code/schema.js";
import type { ProofContext } from "./proofs/fault.js";
import { prove } from "./proofs/graph.js";
import { childrenOf, type GraphNode, isJudge, isLeaf, type LeafNode } from "./schema.js";
import type { ScorerLibrary } from "./scorer/library.js";
import { moduleVersions, scorerNodeVersion } from "./versions.js";

/** A milestone of a task: a check whose weight is paid when it first holds. */
export interface Milestone {
  id: string;
  weight: number;
  revocable: boolean;
  /** Pays for its score's growth. */
  dense: boolean;
}

export interface LoadedGraph {
  readonly task: string;
  readonly taskVersion: string;
  /** Digest of the graph and of the versions of every channel and assertion. */
  readonly verifierVersion: string;
  readonly root: GraphNode;
  /** Score from which the verdict is passed. */
  readonly threshold: number;
  /** Named nodes, checks and combinations. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  /** Checks and other leaves in graph order. */
  readonly checks: readonly LeafNode[];
  /** Leaves that only a `fallback` asks, once what stands before them is ungraded. */
  readonly deferred: ReadonlySet<string>;
  /** Grading assets that are JavaScript or TypeScript; code nodes may import them. */
  readonly modules: readonly string[];
  /** What its scorer nodes name. */
  readonly scorers: ScorerLibrary | undefined;
  /** Every leaf is a judge: no program stands behind the verdict. */
  readonly judgedOnly: boolean;
  readonly milestones: readonly Milestone[];
}

export interface LoadGraphOptions extends Partial<ProofContext> {
  task?: string;
  taskVersion?: string;
  threshold?: number;
  /** Set where the graph is a variant of a parameterised one: the digest of the unfilled graph. */
  verifierVersion?: string;
}

/** Digest of what decides a verdict: the graph as written, the digests of its assets, our modules' versions. */
export function verifierVersionOf(graph: unknown, assets: Record<string, { sha256: string }> = {}): string {
  const asked = askedModules(graph);
  const apps = Object.fromEntries(asked.map((name) => [name, moduleOf(name)?.digest ?? null]));
  const scored = scorerInputs(graph);
  return digestOf({
    graph,
    assets,
    modules: moduleVersions,
    ...(asked.length === 0 ? {} : { apps }),
    ...(scored.length === 0 ? {} : { scorers: { version: scorerNodeVersion, inputs: scored } }),
  });
}

/** Names of the applications' modules that a graph asks, wherever in it. */
function askedModules(graph: unknown): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { channel, query } = value as { channel?: unknown; query?: { module?: unknown } };
    if (channel === "module" && typeof query?.module === "string") found.add(query.module);
    Object.values(value).forEach(visit);
  };
  visit(graph);
  return [...found].sort();
}

/** Inputs of scorer nodes as text: some published scorers go by the order of their fields, which canonical JSON hides. */
function scorerInputs(graph: unknown): string[] {
  if (typeof graph !== "object" || graph === null) return [];
  const { scorer, input } = graph as { scorer?: unknown; input?: unknown };
  if (typeof scorer === "string" && input !== undefined) return [JSON.stringify(input)];
  return Object.values(graph).flatMap(scorerInputs);
}

/** Proves a graph and prepares it. Throws `bad_task` with the path of the first fault. */
export function loadGraph(root: GraphNode, options: LoadGraphOptions = {}): LoadedGraph {
  const { nodes } = prove(root, options);
  const checks: LeafNode[] = [];
  const collect = (node: GraphNode): void => {
    if (isLeaf(node)) checks.push(node);
    for (const child of childrenOf(node)) collect(child);
  };
  collect(root);
  const deferred = new Set<string>();
  const defer = (node: GraphNode, later: boolean): void => {
    if (later && isLeaf(node)) deferred.add(node.id);
    childrenOf(node).forEach((child, index) => defer(child, later || ("fallback" in node && index > 0)));
  };
  defer(root, false);
  return {
    task: options.task ?? "",
    taskVersion: options.taskVersion ?? "",
    verifierVersion: options.verifierVersion ?? verifierVersionOf(root, options.assets),
    root,
    threshold: options.threshold ?? 1,
    nodes,
    checks,
    deferred,
    modules: Object.entries(options.assets ?? {})
      .filter(([name, asset]) => asset.for === "grading" && MODULE_FILE.test(name))
      .map(([name]) => name)
      .sort(),
    scorers: options.scorers,
    judgedOnly: checks.every(isJudge),
    milestones: checks
      .filter((check) => check.milestone)
      .map(({ id, weight, revocable, dense }) => ({ id, weight, revocable, dense })),
  };
}
