/** A tree of criteria, aggregated as Mind2Web-2 does (arXiv 2506.21506): critical children gate, the others are averaged. */
import type { Criterion } from "./schema.js";

export interface Share {
  /** In [0,1]. */
  score: number;
  critical: boolean;
}

/**
 * Score of a group. In a sequence everything after the first child that is not complete counts as 0. A critical child that is not
 * complete makes the group 0; a group of critical children alone is then 1. An empty one was never scored: 0.
 */
export function groupScore(order: "parallel" | "sequential", children: readonly Share[]): number {
  if (children.length === 0) return 0;
  const stop = order === "sequential" ? children.findIndex(({ score }) => score < 1) : -1;
  const counted = children.map((child, index) =>
    stop !== -1 && index > stop ? { ...child, score: 0 } : child,
  );
  if (counted.some(({ score, critical }) => critical && score < 1)) return 0;
  const soft = counted.filter(({ critical }) => !critical);
  return soft.length === 0 ? 1 : soft.reduce((sum, { score }) => sum + score, 0) / soft.length;
}

/** Score of a tree, given which questions are met. */
export function treeScore(
  order: "parallel" | "sequential",
  criteria: readonly Criterion[],
  met: ReadonlyMap<string, boolean>,
): number {
  const shares = criteria.map((one): Share => {
    if ("ask" in one) return { score: met.get(one.id) === true ? 1 : 0, critical: one.critical };
    return { score: treeScore(one.order, one.criteria, met), critical: one.critical };
  });
  return groupScore(order, shares);
}
