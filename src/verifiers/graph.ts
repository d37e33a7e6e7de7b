/** A proven graph, ready to be evaluated. */
import { digestOf } from "./canonical.js";
import { prove, type ProofContext } from "./proofs.js";
import { type CheckNode, childrenOf, type GraphNode, isCheck } from "./schema.js";
import { moduleVersions } from "./versions.js";

/** A milestone of a task: a check whose weight is paid when it first holds. */
export interface Milestone {
  id: string;
  weight: number;
  revocable: boolean;
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
  /** All checks in graph order. */
  readonly checks: readonly CheckNode[];
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
  return digestOf({ graph, assets, modules: moduleVersions });
}

/** Proves a graph and prepares it. Throws `bad_task` with the path of the first fault. */
export function loadGraph(root: GraphNode, options: LoadGraphOptions = {}): LoadedGraph {
  const { nodes } = prove(root, options);
  const checks: CheckNode[] = [];
  const collect = (node: GraphNode): void => {
    if (isCheck(node)) checks.push(node);
    for (const child of childrenOf(node)) collect(child);
  };
  collect(root);
  return {
    task: options.task ?? "",
    taskVersion: options.taskVersion ?? "",
    verifierVersion: options.verifierVersion ?? verifierVersionOf(root, options.assets),
    root,
    threshold: options.threshold ?? 1,
    nodes,
    checks,
    milestones: checks
      .filter((check) => check.milestone)
      .map(({ id, weight, revocable }) => ({ id, weight, revocable })),
  };
}
