/** A judge node: criteria that no program can tell, put to a model with structured output. */
import { z } from "zod";
import { type ChannelName, channelNames, pairs } from "../channels/schema.js";

/** Criteria of one node, in all. */
const CRITERIA_LIMIT = 100;
/** Groups within groups. */
const DEPTH_LIMIT = 8;
const EVIDENCE_LIMIT = 32;
/** Numbers of votes: odd ones, so that there is a majority. */
const QUORUMS = [1, 3, 5, 7];

const criterionId = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9_-]*$/, "must start with a lower-case letter and hold only a-z, 0-9, _ and -");

const shared = {
  id: criterionId,
  /** One that is not met makes its group 0; the others are averaged. */
  critical: z.boolean().default(false),
};

export interface Question {
  id: string;
  critical: boolean;
  /** What must hold, as a statement. */
  ask: string;
  /** A statement that something is missing has no place to quote. */
  quote: boolean;
}
export interface Group {
  id: string;
  critical: boolean;
  criteria: Criterion[];
  /** `sequential`: everything after the first that is not met counts as not met. */
  order: "parallel" | "sequential";
}
export type Criterion = Question | Group;

const question = z.strictObject({
  ...shared,
  ask: z.string().min(1).max(10_000),
  quote: z.boolean().default(true),
});
const order = z.enum(["parallel", "sequential"]).default("parallel");

function criterion(depth: number): z.ZodType<Criterion> {
  if (depth === 0) return question;
  return z.union([
    question,
    z.strictObject({ ...shared, criteria: z.array(z.lazy(() => criterion(depth - 1))).min(1), order }),
  ]);
}

export const judgeSpec = z
  .strictObject({
    criteria: z.array(criterion(DEPTH_LIMIT)).min(1),
    order,
    /** What the judge is shown beside the answer and the end. */
    evidence: z
      .array(pairs({ name: z.string().min(1).max(128) }))
      .max(EVIDENCE_LIMIT)
      .default([]),
    /** Channels that it may read on its own, to see where an answer came from. */
    tools: z.array(z.enum(channelNames as [ChannelName, ...ChannelName[]])).default([]),
    /** Independent judgements of each criterion; the majority decides. 3 if unsaid where a graph has no other leaf, otherwise 1. */
    quorum: z
      .int()
      .refine((votes) => QUORUMS.includes(votes), `must be ${QUORUMS.join(", ")}`)
      .optional(),
  })
  .refine((spec) => questionsOf(spec.criteria).length <= CRITERIA_LIMIT, {
    path: ["criteria"],
    error: `more than ${CRITERIA_LIMIT} criteria`,
  });
export type JudgeSpec = z.output<typeof judgeSpec>;

/** The questions of a tree, in order. */
export function questionsOf(criteria: readonly Criterion[]): Question[] {
  return criteria.flatMap((one) => ("ask" in one ? [one] : questionsOf(one.criteria)));
}
