/** `checkVerifier`: what every graph must keep, shown on a machine of the caller's. */
import type { Sandbox } from "../sandbox/sandbox.js";
import { evaluateGraph, type GradeContext } from "./evaluate.js";
import type { LoadedGraph } from "./graph.js";
import { childrenOf, type GraphNode, isLeaf, type LeafNode } from "./schema.js";
import type { Verdict } from "./verdict.js";

/** The graph with the children of `all`, `any` and `weighted` in reverse; a sequence keeps its order, which is its meaning. */
export function reversed(node: GraphNode): GraphNode {
  if (isLeaf(node)) return node;
  const turn = (nodes: readonly GraphNode[]): GraphNode[] => nodes.map(reversed).reverse();
  if ("all" in node) return { ...node, all: turn(node.all) };
  if ("any" in node) return { ...node, any: turn(node.any) };
  if ("weighted" in node) return { ...node, weighted: turn(node.weighted) };
  if ("sequence" in node) return { ...node, sequence: node.sequence.map(reversed) };
  if ("fallback" in node) return { ...node, fallback: node.fallback.map(reversed) };
  return { ...node, not: reversed(node.not) };
}

function checksOf(node: GraphNode): LeafNode[] {
  return isLeaf(node) ? [node] : childrenOf(node).flatMap(checksOf);
}

/** Nodes by id in the reversed graph, for `needs`. */
function nodesOf(node: GraphNode, into = new Map<string, GraphNode>()): Map<string, GraphNode> {
  if (node.id !== undefined) into.set(node.id, node);
  for (const child of childrenOf(node)) nodesOf(child, into);
  return into;
}

function withoutTimes(verdict: Verdict): string {
  return JSON.stringify({ ...verdict, checks: verdict.checks.map(({ ms: _, ...rest }) => rest) });
}

function scores(verdict: Verdict): string {
  const checks = verdict.checks.map(({ id, status, score }) => [id, status, score] as const);
  return JSON.stringify([
    verdict.status,
    verdict.score?.toFixed(9),
    checks.sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
}

/**
 * Grades three times and returns the faults found, none if all is well: the same state must give the same verdict twice,
 * reversed order the same scores, every fork must be closed, and an ungraded verdict must carry a reason and no score.
 */
export async function checkVerifier(loaded: LoadedGraph, context: GradeContext): Promise<string[]> {
  const forks: Sandbox[] = [];
  const watched: GradeContext = {
    ...context,
    fork: async (machine) => {
      const fork = await context.fork(machine);
      forks.push(fork);
      return fork;
    },
  };
  const root = reversed(loaded.root);
  const backward: LoadedGraph = { ...loaded, root, nodes: nodesOf(root), checks: checksOf(root) };
  const first = await evaluateGraph(loaded, watched);
  const second = await evaluateGraph(loaded, watched);
  const third = await evaluateGraph(backward, watched);
  const faults: string[] = [];
  if (withoutTimes(first) !== withoutTimes(second))
    faults.push("grading the same state twice gave two verdicts");
  if (scores(first) !== scores(third)) faults.push("reversed order gave other scores");
  const open = forks.filter((fork) => !fork.closed).length;
  if (open > 0) faults.push(`${open} of ${forks.length} grading forks were left open`);
  for (const verdict of [first, third]) {
    const blank = verdict.score === null && verdict.passed === null && verdict.reason !== undefined;
    if ((verdict.status === "ungraded") !== blank)
      faults.push("an ungraded verdict has a score or lacks a reason");
  }
  return faults;
}
