/** What changed between two verdicts on one end state. */
import type { CheckRecord, VerdictRecord } from "./record.js";
import type { Label } from "./schema.js";

export interface CheckChange {
  id: string;
  /** Null where the verdict has no such check. */
  before: CheckRecord | null;
  after: CheckRecord | null;
}

/** How deep a change goes: the verdict itself, its score alone, or only checks under it. */
export const depths = ["verdict", "score", "checks"] as const;

export interface VerdictChange {
  id: string;
  depth: (typeof depths)[number];
  label: Label | null;
  before: Outcome;
  after: Outcome;
  /** Fields of the verdict that changed. */
  fields: ("status" | "score" | "passed" | "reason")[];
  /** Checks whose status or score changed, that are new, or that are gone. */
  checks: CheckChange[];
}

export interface Outcome {
  status: VerdictRecord["status"];
  score: number | null;
  passed: boolean | null;
  reason: string | null;
}

export interface DiffReport {
  /** Verdicts that were compared. */
  compared: number;
  /** States whose task is the same in both, so that there is nothing to compare. */
  same_task: number;
  /** The deepest first, then as in the corpus. */
  changed: VerdictChange[];
  /** Ids of the corpus that one of the two has no verdict on. */
  missing_before: string[];
  missing_after: string[];
}

export interface DiffCase {
  id: string;
  label: Label | null;
  before: VerdictRecord | null;
  after: VerdictRecord | null;
}

/** Compares verdicts state by state; evidence and versions may differ without a verdict having changed. */
export function diffVerdicts(cases: readonly DiffCase[], sameTask = 0): DiffReport {
  const both = cases.flatMap(({ id, label, before, after }) =>
    before === null || after === null ? [] : [{ id, label, before, after }],
  );
  const changes = both
    .map(({ id, label, before, after }) => changeOf(id, label, before, after))
    .filter(({ fields, checks }) => fields.length > 0 || checks.length > 0);
  return {
    compared: both.length,
    same_task: sameTask,
    changed: depths.flatMap((depth) => changes.filter((change) => change.depth === depth)),
    missing_before: cases.filter(({ before }) => before === null).map(({ id }) => id),
    missing_after: cases.filter(({ after }) => after === null).map(({ id }) => id),
  };
}

/** Whether two sets of verdicts differ in anything. */
export function differs(report: DiffReport): boolean {
  return report.changed.length + report.missing_before.length + report.missing_after.length > 0;
}

function changeOf(id: string, label: Label | null, a: VerdictRecord, b: VerdictRecord): VerdictChange {
  const [before, after] = [outcomeOf(a), outcomeOf(b)];
  const fields = (["status", "score", "passed", "reason"] as const).filter(
    (field) => before[field] !== after[field],
  );
  const ids = [...new Set([...a.checks, ...b.checks].map((check) => check.id))];
  const checks = ids
    .map((check): CheckChange => ({ id: check, before: find(a, check), after: find(b, check) }))
    .filter(
      (change) =>
        change.before?.status !== change.after?.status || change.before?.score !== change.after?.score,
    );
  const deep = fields.some((field) => field !== "score");
  const depth = deep ? "verdict" : fields.length > 0 ? "score" : "checks";
  return { id, depth, label, before, after, fields, checks };
}

function find({ checks }: VerdictRecord, id: string): CheckRecord | null {
  return checks.find((check) => check.id === id) ?? null;
}

function outcomeOf({ status, score, passed, reason }: VerdictRecord): Outcome {
  return { status, score, passed, reason: reason ?? null };
}
