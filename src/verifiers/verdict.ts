import type { JudgeRecord } from "./judge/plan.js";

/** The result of one check of a verifier graph. */
export interface CheckResult {
  id: string;
  /** `skipped`: a node that it needs did not pass. `ungraded`: the question could not be answered. */
  status: "passed" | "failed" | "skipped" | "ungraded";
  /** In [0,1]; null when ungraded or skipped. */
  score: number | null;
  weight: number;
  /** What was seen and what was expected, cut to a bounded size. */
  evidence: string;
  /** Host milliseconds; not part of the verdict's identity. */
  ms: number;
  /** Of a judge node that was asked. */
  judge?: JudgeRecord | undefined;
}

/** What `evaluate` returns. Grading the same state twice gives the same verdict, times aside. */
export interface Verdict {
  task: string;
  taskVersion: string;
  /** Digest of graph and modules. */
  verifierVersion: string;
  /** `ungraded` is never a score: then `score` and `passed` are null and `reason` says why. */
  status: "graded" | "ungraded";
  score: number | null;
  passed: boolean | null;
  reason?: string | undefined;
  /** Present, and true, where every leaf of the graph is a judge. */
  judgedOnly?: true | undefined;
  checks: CheckResult[];
}
