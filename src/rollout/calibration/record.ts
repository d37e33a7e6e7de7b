/** Recorded verdicts and labels: JSON, one object a line. Times are left out, so equal verdicts are equal lines. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import type { Verdict } from "../../verifiers/index.js";

const share = z.number().min(0).max(1);

export const checkRecord = z.strictObject({
  id: z.string().min(1),
  status: z.enum(["passed", "failed", "skipped", "ungraded"]),
  score: share.nullable().default(null),
  weight: z.number().positive().default(1),
  evidence: z.string().default(""),
});
export type CheckRecord = z.output<typeof checkRecord>;

const outcome = z
  .strictObject({
    status: z.enum(["graded", "ungraded"]),
    score: share.nullable().default(null),
    passed: z.boolean().nullable(),
    reason: z.string().optional(),
    task_version: z.string().optional(),
    verifier_version: z.string().optional(),
    checks: z.array(checkRecord).default([]),
  })
  .refine(({ status, passed }) => (status === "graded") === (passed !== null), {
    error: "is true or false if it was graded, and null if not",
    path: ["passed"],
  });

const inWords = z.enum(["passed", "failed", "ungraded"]).transform(
  (word): z.output<typeof outcome> => ({
    status: word === "ungraded" ? "ungraded" : "graded",
    score: null,
    passed: word === "ungraded" ? null : word === "passed",
    checks: [],
  }),
);

/** A verdict as it is written down; `"passed"`, `"failed"` and `"ungraded"` are short for one without detail. */
export const verdictRecord = z.union([inWords, outcome]);
export type VerdictRecord = z.output<typeof outcome>;

const opinion = z
  .strictObject({
    passed: z.boolean().nullable(),
    score: share.nullable().default(null),
    rationale: z.string().default(""),
  })
  .transform(
    ({ passed, score, rationale }): VerdictRecord => ({
      status: passed === null ? "ungraded" : "graded",
      score,
      passed,
      checks: [],
      ...(rationale === "" ? {} : { reason: rationale }),
    }),
  );

/** What a judge said of a whole end state: `passed` (null: it gave none) with its rationale, or one word. */
export const judgementRecord = z.union([inWords, opinion]);

const line = z
  .strictObject({
    id: z.string().min(1).max(256),
    task: z.string().min(1).optional(),
    label: z.enum(["right", "nearly", "wrong"]).optional(),
    note: z.string().optional(),
    by: z.string().min(1).optional(),
    verdict: verdictRecord.optional(),
    judge: judgementRecord.optional(),
  })
  .refine((one) => one.verdict !== undefined || one.judge !== undefined, {
    error: "needs a verdict, or that of a judge",
    path: ["verdict"],
  });
export type RecordLine = z.output<typeof line>;

/** Parses the text of a file of recorded verdicts. Throws `bad_request` with its line. */
export function parseRecord(text: string, name: string): RecordLine[] {
  const found: RecordLine[] = [];
  const seen = new Set<string>();
  for (const [index, raw] of text.split("\n").entries()) {
    if (raw.trim() === "") continue;
    const at = `${name}:${index + 1}`;
    const one = parseOrThrow(line, asJson(raw, at), "bad_request", [at]);
    if (seen.has(one.id))
      throw new ShinkenError("bad_request", `${at}: id: "${one.id}" stands twice`, { path: `${at}.id` });
    seen.add(one.id);
    found.push(one);
  }
  if (found.length > 0) return found;
  throw new ShinkenError("bad_request", `${name}: holds no verdicts`, {
    path: name,
    suggestion: "verdicts are JSON objects, one a line",
  });
}

function asJson(text: string, at: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ShinkenError("bad_request", `${at}: ${(error as Error).message}`, {
      path: at,
      suggestion: "each line is one JSON object",
    });
  }
}

/** A verdict as it is written down. */
export function recordOf(verdict: Verdict): VerdictRecord {
  const { status, score, passed, reason, taskVersion, verifierVersion, checks } = verdict;
  return {
    status,
    score,
    passed,
    ...(reason === undefined ? {} : { reason }),
    task_version: taskVersion,
    verifier_version: verifierVersion,
    checks: checks.map(({ id, status, score, weight, evidence }) => ({
      id,
      status,
      score,
      weight,
      evidence,
    })),
  };
}
