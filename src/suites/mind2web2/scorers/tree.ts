/** Mind2Web-2: a tree of criteria. Critical ones gate their parent, the others are averaged. */
import { z } from "zod";
import { groupScore } from "../../../verifiers/index.js";
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

/** Score of a tree; how a group counts its children is `groupScore`'s. */
export function treeScore({ strategy, children }: CriterionTree): number {
  return groupScore(
    strategy,
    children.map(([node, kind]) => ({
      score: typeof node === "number" ? node : treeScore(node),
      critical: kind === "critical",
    })),
  );
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
