/** How far a grader agrees with people. */
import { cohenKappa, wilson } from "../statistics/index.js";
import { type Case, contradicts, telling, wordOf } from "./cases.js";
import type { CheckRecord, VerdictRecord } from "./record.js";
import { type Label, labels } from "./schema.js";

/** A share of counted cases with Wilson's 95 % interval; null of none. */
export interface Share {
  n: number;
  count: number;
  share: number | null;
  ci: [number, number];
}

/** Agreement over cases that are either right or wrong. */
export interface Tally {
  agreement: Share;
  kappa: number | null;
  kappa_se: number | null;
  kappa_ci: [number, number] | null;
  /** Wrong states that passed, of all wrong ones; right states that failed, of all right ones. */
  false_passes: Share;
  false_fails: Share;
}

export interface ListedCase {
  id: string;
  task: string | null;
  label: Label;
  by: string | null;
  note: string | null;
  status: VerdictRecord["status"];
  passed: boolean | null;
  score: number | null;
  reason: string | null;
  checks: CheckRecord[];
}

export interface Agreement {
  grader: "program" | "judge";
  /** Labelled cases with a verdict of this grader, ungraded ones included. */
  cases: number;
  /** Counted beside, never inside. */
  ungraded: number;
  /** Labels down, verdicts across. */
  table: Record<Label, { passed: number; failed: number; ungraded: number }>;
  /** Cases that people argue about left out, taken for right, and taken for wrong. */
  without_nearly: Tally;
  nearly_as_right: Tally;
  nearly_as_wrong: Tally;
  tasks: {
    task: string;
    n: number;
    agreed: number;
    nearly_passed: number;
    nearly_failed: number;
    ungraded: number;
  }[];
  /** Right or wrong by label, and graded otherwise. */
  disagreements: ListedCase[];
  nearly: ListedCase[];
  ungraded_cases: ListedCase[];
  /** Ids of states marked as agreed whose verdict no longer agrees, or is ungraded. */
  broken: string[];
}

/** The agreement of each grader that gave verdicts; cases without a label say nothing and are left out. */
export function agreements(cases: readonly Case[]): Agreement[] {
  const program = agreementOf("program", cases, ({ verdict }) => verdict);
  const judge = agreementOf("judge", cases, ({ judge }) => judge);
  return [program, judge].filter((one) => one.cases > 0);
}

function agreementOf(
  grader: Agreement["grader"],
  all: readonly Case[],
  pick: (one: Case) => VerdictRecord | null,
): Agreement {
  const cases = all.flatMap((one) => {
    const verdict = pick(one);
    return verdict === null || one.label === null ? [] : [{ ...one, label: one.label, verdict }];
  });
  const table = Object.fromEntries(
    labels.map((label) => {
      const words = cases.filter((one) => one.label === label).map(({ verdict }) => wordOf(verdict));
      const count = (word: string) => words.filter((one) => one === word).length;
      return [label, { passed: count("passed"), failed: count("failed"), ungraded: count("ungraded") }];
    }),
  ) as Agreement["table"];
  const listed = (wanted: (one: (typeof cases)[number]) => boolean) => cases.filter(wanted).map(listOf);
  return {
    grader,
    cases: cases.length,
    ungraded: labels.reduce((sum, label) => sum + table[label].ungraded, 0),
    table,
    without_nearly: tally(table, null),
    nearly_as_right: tally(table, "right"),
    nearly_as_wrong: tally(table, "wrong"),
    tasks: byTask(cases),
    disagreements: listed(({ verdict, label }) => contradicts(wordOf(verdict), label)),
    nearly: listed(({ verdict, label }) => label === "nearly" && verdict.passed !== null),
    ungraded_cases: listed(({ verdict }) => verdict.passed === null),
    broken:
      grader === "judge"
        ? []
        : cases
            .filter(({ agreed, label, verdict }) => agreed && verdict.passed !== (label === "right"))
            .map(({ id }) => id),
  };
}

function tally(table: Agreement["table"], nearlyAs: "right" | "wrong" | null): Tally {
  const row = (label: "right" | "wrong") => {
    const more = nearlyAs === label ? table.nearly : { passed: 0, failed: 0 };
    return { passed: table[label].passed + more.passed, failed: table[label].failed + more.failed };
  };
  const [right, wrong] = [row("right"), row("wrong")];
  const [ofRight, ofWrong] = [right.passed + right.failed, wrong.passed + wrong.failed];
  const { kappa, se, ci } = cohenKappa([
    [right.passed, right.failed],
    [wrong.passed, wrong.failed],
  ]);
  return {
    agreement: share(ofRight + ofWrong, right.passed + wrong.failed),
    kappa,
    kappa_se: se,
    kappa_ci: ci,
    false_passes: share(ofWrong, wrong.passed),
    false_fails: share(ofRight, right.failed),
  };
}

function share(n: number, count: number): Share {
  return { n, count, share: n === 0 ? null : count / n, ci: wilson(n, count) };
}

type Judged = Case & { label: Label; verdict: VerdictRecord };

function byTask(cases: readonly Judged[]): Agreement["tasks"] {
  const names = [...new Set(cases.map(({ task }) => task ?? ""))].sort();
  return names.map((task) => {
    const own = cases.filter((one) => (one.task ?? "") === task);
    const graded = own.filter(({ verdict }) => verdict.passed !== null);
    const settled = graded.filter(({ label }) => label !== "nearly");
    const nearly = graded.filter(({ label }) => label === "nearly");
    return {
      task,
      n: settled.length,
      agreed: settled.filter(({ label, verdict }) => !contradicts(wordOf(verdict), label)).length,
      nearly_passed: nearly.filter(({ verdict }) => verdict.passed === true).length,
      nearly_failed: nearly.filter(({ verdict }) => verdict.passed === false).length,
      ungraded: own.length - graded.length,
    };
  });
}

function listOf({ id, task, label, by, note, verdict }: Judged): ListedCase {
  const { status, passed, score, reason = null } = verdict;
  return { id, task, label, by, note, status, passed, score, reason, checks: telling(verdict) };
}
