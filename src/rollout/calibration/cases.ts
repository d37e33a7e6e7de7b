/** A case: what a program, a judge and a person say of one end state. */
import type { EndState } from "./corpus.js";
import type { CheckRecord, RecordLine, VerdictRecord } from "./record.js";
import type { Label } from "./schema.js";

export interface Case {
  id: string;
  task: string | null;
  label: Label | null;
  /** Why it has that label. */
  note: string | null;
  by: string | null;
  /** Program and label have been seen to agree. */
  agreed: boolean;
  verdict: VerdictRecord | null;
  judge: VerdictRecord | null;
}

/** What a grader said, in one word; null: it was not asked. */
export type Word = "passed" | "failed" | "ungraded" | null;

export function wordOf(verdict: VerdictRecord | null): Word {
  if (verdict === null) return null;
  if (verdict.passed === null) return "ungraded";
  return verdict.passed ? "passed" : "failed";
}

/** Whether a word contradicts a label that nobody argues about. */
export function contradicts(word: Word, label: Label | null): boolean {
  return (word === "passed" && label === "wrong") || (word === "failed" && label === "right");
}

/** Cases out of recorded lines. */
export function casesOfRecord(lines: readonly RecordLine[]): Case[] {
  return lines.map(({ id, task, label, note, by, verdict, judge }) => ({
    id,
    task: task ?? null,
    label: label ?? null,
    note: note ?? null,
    by: by ?? null,
    agreed: false,
    verdict: verdict ?? null,
    judge: judge ?? null,
  }));
}

/** Cases out of labelled states and their verdicts, by id. A recorded judgement stands before the state's own. */
export function casesOfStates(
  states: readonly EndState[],
  verdicts: ReadonlyMap<string, VerdictRecord>,
  judgements: ReadonlyMap<string, VerdictRecord> = new Map(),
): Case[] {
  return states.map(({ id, task, label, note, by, agreed, judge }) => ({
    id,
    task,
    label,
    note,
    by,
    agreed,
    verdict: verdicts.get(id) ?? null,
    judge: judgements.get(id) ?? judge ?? null,
  }));
}

/** The line that records a case, as `parseRecord` reads it. */
export function lineOf({ id, task, label, note, by, verdict, judge }: Case): Record<string, unknown> {
  const fields = { task, label, note, by, verdict };
  return {
    id,
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)),
    ...(judge === null
      ? {}
      : { judge: { passed: judge.passed, score: judge.score, rationale: judge.reason ?? "" } }),
  };
}

/** The checks that explain a verdict: those that did not pass, or all of one that passed. */
export function telling(verdict: VerdictRecord | null): CheckRecord[] {
  if (verdict === null) return [];
  const against = verdict.checks.filter(({ status }) => status !== "passed");
  return verdict.passed === true || against.length === 0 ? verdict.checks : against;
}
