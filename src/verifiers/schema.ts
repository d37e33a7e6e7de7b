/** The check graph as data: checks with a channel, and combinations of nodes. */
import { z } from "zod";
import { assertion } from "./assertions/schema.js";
import { codeSpec } from "./code/schema.js";
import { judgeSpec } from "./judge/schema.js";
import { pairs } from "./channels/schema.js";
import { scorerFields } from "./scorer/schema.js";

/** Name of a node: what `needs` and verdicts use. */
export const nodeId = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_-]*$/, "must start with a lower-case letter and hold only a-z, 0-9, _ and -");

const weight = z.number().positive("must be greater than 0").default(1);
const needs = z.array(nodeId).default([]);
const threshold = z.number().gt(0).max(1).default(1);

/** What every leaf has, whatever it asks. */
const leafFields = {
  id: nodeId,
  /** The machine that its queries are about: a service's name; the agent's if unsaid. */
  machine: z.string().min(1).optional(),
  weight,
  needs,
  /** Evaluated after every step; its weight is the reward when it first holds. */
  milestone: z.boolean().default(false),
  /** A milestone that pays for its score's growth as it grows, and not only when it is reached. */
  dense: z.boolean().default(false),
  /** A milestone that can be lost again (the reward is taken back). */
  revocable: z.boolean().default(false),
  /** Score from which the check counts as passed. */
  threshold,
  /** What a malformed value is: `ungraded` (the default) or a `fail`. Time-outs and dead machines stay ungraded. */
  on_error: z.enum(["ungraded", "fail"]).default("ungraded"),
  /** Scores strictly between these leave the question open: the node is ungraded, for a `fallback` to settle. */
  undecided: z
    .strictObject({ above: z.number().min(0).max(1), below: z.number().min(0).max(1) })
    .refine(({ above, below }) => above < below, "above must be less than below")
    .optional(),
  /** Host milliseconds after which the check is given up as ungraded. */
  deadline_ms: z.int().positive().max(600_000).default(30_000),
};

export const checkNode = pairs({
  ...leafFields,
  assert: assertion,
  /** The query changes the machine: it gets a fork of its own. */
  mutates: z.boolean().default(false),
});
export type CheckNode = z.output<typeof checkNode>;

export const codeNode = z.strictObject({ ...leafFields, code: codeSpec });
export type CodeNode = z.output<typeof codeNode>;

export const judgeNode = z.strictObject({ ...leafFields, judge: judgeSpec });
export type JudgeNode = z.output<typeof judgeNode>;

export const scorerNode = z.strictObject({ ...leafFields, ...scorerFields });
export type ScorerNode = z.output<typeof scorerNode>;

/** A node that asks something; all others combine. */
export type LeafNode = CheckNode | CodeNode | JudgeNode | ScorerNode;

interface Combined {
  id?: string | undefined;
  weight: number;
  needs: string[];
  threshold: number;
}
export type AllNode = Combined & { all: GraphNode[] };
export type AnyNode = Combined & { any: GraphNode[] };
export type WeightedNode = Combined & { weighted: GraphNode[] };
export type SequenceNode = Combined & { sequence: GraphNode[] };
export type FallbackNode = Combined & { fallback: GraphNode[] };
export type NotNode = Combined & { not: GraphNode };
export type CombinationNode = AllNode | AnyNode | WeightedNode | SequenceNode | FallbackNode | NotNode;
export type GraphNode = LeafNode | CombinationNode;

const combined = { id: nodeId.optional(), weight, needs, threshold };
const children = z.array(z.lazy((): z.ZodType<GraphNode> => graphNode)).min(1, "needs at least one node");

export const graphNode: z.ZodType<GraphNode> = z.union([
  checkNode,
  codeNode,
  judgeNode,
  scorerNode,
  z.strictObject({ ...combined, all: children }),
  z.strictObject({ ...combined, any: children }),
  z.strictObject({ ...combined, weighted: children }),
  z.strictObject({ ...combined, sequence: children }),
  z.strictObject({ ...combined, fallback: children }),
  z.strictObject({ ...combined, not: z.lazy((): z.ZodType<GraphNode> => graphNode) }),
]);

/** True for what asks, false for a combination. */
export function isLeaf(node: GraphNode): node is LeafNode {
  return "channel" in node || "code" in node || "judge" in node || "scorer" in node;
}

/** True for a node whose answer is a model's. */
export function isJudge(node: GraphNode): node is JudgeNode {
  return "judge" in node;
}

/** True for a node that a published scorer grades. */
export function isScorer(node: GraphNode): node is ScorerNode {
  return "scorer" in node;
}

/** True for a check of a channel. */
export function isCheck(node: GraphNode): node is CheckNode {
  return "channel" in node;
}

/** The nodes under a combination, in graph order; none under a leaf. */
export function childrenOf(node: GraphNode): readonly GraphNode[] {
  if ("all" in node) return node.all;
  if ("any" in node) return node.any;
  if ("weighted" in node) return node.weighted;
  if ("sequence" in node) return node.sequence;
  if ("fallback" in node) return node.fallback;
  if ("not" in node) return [node.not];
  return [];
}

/** The ways to combine. */
export type CombinationKind = "all" | "any" | "weighted" | "sequence" | "fallback" | "not";

/** How a combination is spelt. */
export function combinationKind(node: CombinationNode): CombinationKind {
  if ("all" in node) return "all";
  if ("any" in node) return "any";
  if ("weighted" in node) return "weighted";
  if ("sequence" in node) return "sequence";
  if ("fallback" in node) return "fallback";
  return "not";
}
