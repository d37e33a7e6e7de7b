/** Mind2Web-2: a tree of criteria. Critical ones gate their parent, the others are averaged. */
import { z } from "zod";
import { both, defineScorer, fault, given, unit } from "../../scorer.js";

export type Criterion = readonly [score: number | CriterionTree, kind: "critical" | "soft"];

export interface CriterionTree {
  strategy: "parallel" | "sequential";
  children: readonly Criterion[];
}

/** As deep as a tree of criteria may be; published ones have five. */
const MAX_DEPTH = 64;

const kind = z.enum(["critical", "soft"]);
const share = z.number().min(0).max(1);

const criterionOf = (depth: number): z.ZodType<Criterion> =>
  z.tuple([depth === 0 ? share : z.union([share, z.lazy(() => treeOf(depth - 1))]), kind]);

export const treeFields = {
  strategy: z.enum(["parallel", "sequential"]),
  children: z.array(criterionOf(MAX_DEPTH)),
};

const treeOf = (depth: number): z.ZodType<CriterionTree> =>
  z.strictObject({ ...treeFields, children: z.array(criterionOf(depth)) });

/**
 * In a sequence all after the first child that is not complete count as 0. A critical child that is not complete makes
 * the parent 0; with critical children alone it is 1. A parent without children was never scored: 0.
 */
export function treeScore({ strategy, children }: CriterionTree): number {
  if (children.length === 0) return 0;
  const scores = children.map(([node]) => (typeof node === "number" ? node : treeScore(node)));
  if (strategy === "sequential") {
    const first = scores.findIndex((score) => score < 1);
    if (first !== -1) scores.fill(0, first + 1);
  }
  const ofKind = (wanted: Criterion[1]): number[] =>
    scores.filter((_, index) => children[index]?.[1] === wanted);
  if (ofKind("critical").some((score) => score < 1)) return 0;
  const soft = ofKind("soft");
  return soft.length === 0 ? 1 : soft.reduce((sum, score) => sum + score, 0) / soft.length;
}

/** All below a critical criterion must be critical too. */
const consistent = ({ children }: CriterionTree, critical = false): boolean =>
  children.every(
    ([node, own]) =>
      (!critical || own === "critical") && (typeof node === "number" || consistent(node, own === "critical")),
  );

export const mind2web2Tree = defineScorer({
  name: "mind2web2.tree",
  version: 1,
  input: treeOf(MAX_DEPTH),
  score: both((tree: CriterionTree) =>
    consistent(tree)
      ? given(treeScore(tree))
      : fault("ValueError", "a critical criterion cannot have a child that is not critical"),
  ),
  reward: unit,
});
