/** Reports of calibration as people read them in a terminal. */
import { renderTable } from "../table.js";
import type { Agreement, ListedCase, Share, Tally } from "./agreement.js";
import type { DiffReport, Outcome, VerdictChange } from "./diff.js";
import type { CheckRecord } from "./record.js";
import { labels } from "./schema.js";
import { lastOpenRank, suspicions, type TriagedCase } from "./triage.js";

const two = (value: number | null): string => (value === null ? "-" : value.toFixed(2));
const three = (value: number | null): string => (value === null ? "-" : value.toFixed(3));
const percent = (value: number): string => (100 * value).toFixed(1);
const interval = (ci: [number, number] | null, show: (value: number) => string): string =>
  ci === null ? "" : `[${show(ci[0])}, ${show(ci[1])}]`;

function shareText({ n, count, share, ci }: Share): string {
  return share === null ? "-" : `${count}/${n} = ${percent(share)} % ${interval(ci, percent)}`;
}

/** The agreement of each grader, with what disagrees and why. */
export function renderAgreements(reports: readonly Agreement[]): string {
  return reports.map(renderAgreement).join("\n");
}

function renderAgreement(report: Agreement): string {
  const counted: [string, Tally][] = [
    ["left out", report.without_nearly],
    ["as right", report.nearly_as_right],
    ["as wrong", report.nearly_as_wrong],
  ];
  const lines = [
    `${report.grader} against people: ${report.cases} cases, ${report.ungraded} of them ungraded`,
    "",
    ...renderTable(report.tasks, [
      { title: "task", cell: ({ task }) => task || "-" },
      { title: "right or wrong", right: true, cell: ({ n }) => String(n) },
      { title: "agreed", right: true, cell: ({ agreed }) => String(agreed) },
      { title: "nearly: passed", right: true, cell: (one) => String(one.nearly_passed) },
      { title: "failed", right: true, cell: (one) => String(one.nearly_failed) },
      { title: "ungraded", right: true, cell: ({ ungraded }) => String(ungraded) },
    ]),
    "",
    ...renderTable(labels, [
      { title: "label", cell: (label) => label },
      { title: "passed", right: true, cell: (label) => String(report.table[label].passed) },
      { title: "failed", right: true, cell: (label) => String(report.table[label].failed) },
      { title: "ungraded", right: true, cell: (label) => String(report.table[label].ungraded) },
    ]),
    "",
    ...renderTable(counted, [
      { title: "nearly", cell: ([name]) => name },
      { title: "agreement (95 %)", cell: ([, tally]) => shareText(tally.agreement) },
      {
        title: "kappa (95 %)",
        cell: ([, tally]) => `${three(tally.kappa)} ${interval(tally.kappa_ci, three)}`,
      },
      { title: "passes of wrong", cell: ([, tally]) => shareText(tally.false_passes) },
      { title: "fails of right", cell: ([, tally]) => shareText(tally.false_fails) },
    ]),
    ...list("disagreements", report.disagreements),
    ...list("people argue", report.nearly),
    ...list("ungraded", report.ungraded_cases),
  ];
  if (report.broken.length > 0) lines.push("", `no longer agreed: ${report.broken.join(", ")}`);
  return `${lines.join("\n")}\n`;
}

function list(title: string, cases: readonly ListedCase[]): string[] {
  if (cases.length === 0) return [];
  return [
    "",
    `${title}: ${cases.length}`,
    ...cases.flatMap((one) => [
      `  ${one.id}: ${one.label}, graded ${outcome(one)}${one.by === null ? "" : ` (by ${one.by})`}`,
      ...(one.note === null ? [] : [`    ${oneLine(one.note)}`]),
      ...(one.reason === null ? [] : [`    ${oneLine(one.reason)}`]),
      ...one.checks.map(evidence),
    ]),
  ];
}

function outcome({ passed, score }: Pick<Outcome, "passed" | "score">): string {
  if (passed === null) return "ungraded";
  return `${passed ? "passed" : "failed"}${score === null ? "" : ` (${two(score)})`}`;
}

function evidence(check: CheckRecord): string {
  const { id, status, evidence } = check;
  return `    ${id} ${status}${evidence === "" ? "" : `: ${oneLine(evidence, limitOf(check))}`}`;
}

/** Characters of a text that the list shows; `--json` has all. */
const SHOWN = 300;
/** Of what a check saw that passed. */
const SHOWN_OF_PASSED = 120;

function limitOf({ status }: CheckRecord): number {
  return status === "passed" ? SHOWN_OF_PASSED : SHOWN;
}

function oneLine(text: string, limit = SHOWN): string {
  const line = text.replaceAll(/\s*\n\s*/g, " ").trim();
  return line.length <= limit ? line : `${line.slice(0, limit)} ...`;
}

/** What changed, check by check; where only checks under an equal verdict did, on one line. */
export function renderDiff(report: DiffReport): string {
  const of = (depth: VerdictChange["depth"]) =>
    report.changed.filter((change) => change.depth === depth).length;
  const lines = [
    `${report.compared} compared; ${of("verdict")} verdicts changed, ${of("score")} scores alone, ${of("checks")} only in their checks`,
    ...(report.same_task > 0 ? [`${report.same_task} states of tasks that are the same in both`] : []),
    ...report.changed.flatMap(changeLines),
  ];
  if (report.missing_before.length > 0) lines.push(`no verdict before: ${report.missing_before.join(", ")}`);
  if (report.missing_after.length > 0) lines.push(`no verdict after: ${report.missing_after.join(", ")}`);
  return `${lines.join("\n")}\n`;
}

function changeLines({ id, depth, label, before, after, fields, checks }: VerdictChange): string[] {
  const name = `${id}${label === null ? "" : ` (${label})`}`;
  const steps = checks.map((check) => `${check.id}: ${checkWord(check.before)} -> ${checkWord(check.after)}`);
  if (depth === "checks") return [`${name}: ${outcome(after)} as before; ${steps.join(", ")}`];
  return [
    `${name}: ${outcome(before)} -> ${outcome(after)}`,
    ...(fields.includes("reason")
      ? [`    reason: ${oneLine(before.reason ?? "-")} -> ${oneLine(after.reason ?? "-")}`]
      : []),
    ...checks.flatMap((check, index) => [
      `    ${steps[index] ?? ""}`,
      ...(check.after === null || check.after.evidence === ""
        ? []
        : [`      ${oneLine(check.after.evidence, limitOf(check.after))}`]),
    ]),
  ];
}

function checkWord(check: CheckRecord | null): string {
  return check === null ? "none" : `${check.status}${check.score === null ? "" : ` (${two(check.score)})`}`;
}

/** The cases to look at, the most doubtful first; of those that nobody contradicts only the number. */
export function renderTriage(cases: readonly TriagedCase[], withoutVerdict: readonly string[]): string {
  const open = cases.filter(({ rank }) => rank <= lastOpenRank);
  const lines =
    open.length === 0
      ? []
      : renderTable(open, [
          { title: "#", right: true, cell: ({ rank }) => String(rank) },
          { title: "state", cell: ({ id }) => id },
          {
            title: "program",
            cell: ({ program, score }) => `${program ?? "-"}${score === null ? "" : ` ${two(score)}`}`,
          },
          { title: "judge", cell: ({ judge }) => judge ?? "-" },
          { title: "person", cell: ({ label }) => label ?? "-" },
        ]);
  for (const one of open) {
    lines.push("", `${one.id}: ${one.suspicion}`);
    if (one.note !== null) lines.push(`    person: ${oneLine(one.note)}`);
    if (one.judge_reason !== null) lines.push(`    judge: ${oneLine(one.judge_reason)}`);
    if (one.reason !== null) lines.push(`    program: ${oneLine(one.reason)}`);
    lines.push(...one.checks.map(evidence));
    if (one.regrade !== null) lines.push(`    ${one.regrade}`);
  }
  lines.push("", `${cases.length - open.length} of ${cases.length}: ${suspicions[7]}`);
  if (withoutVerdict.length > 0) lines.push(`without a verdict: ${withoutVerdict.join(", ")}`);
  return `${lines.join("\n").trimStart()}\n`;
}
