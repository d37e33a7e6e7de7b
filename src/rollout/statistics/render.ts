import { type Column, renderTable } from "../table.js";
import type { StatisticsInput } from "./input.js";
import type { StatisticsReport, TaskStatistics } from "./report.js";
import type { Interval } from "./share.js";

/** More tasks than a reader looks through; `--json` has them all. */
const mostRows = 200;

const figure = (value: number | null): string => (value === null ? "-" : value.toFixed(3));
const interval = (ci: Interval | null): string =>
  ci === null ? "-" : `${ci[0].toFixed(3)} - ${ci[1].toFixed(3)}`;

/** The report as people read it in a terminal. */
export function renderStatistics(report: StatisticsReport, input: StatisticsInput): string {
  const { k, confidence } = input;
  const rows = report.per_task.slice(0, mostRows).map((task, index) => ({ ...task, index }));
  const column = (title: string, cell: (task: TaskStatistics & { index: number }) => string) =>
    ({ title, right: true, cell }) satisfies Column<TaskStatistics & { index: number }>;
  const lines = renderTable(rows, [
    column("task", ({ index }) => String(index)),
    column("graded", ({ n }) => String(n)),
    column("passed", ({ passed }) => String(passed)),
    column("ungraded", ({ ungraded }) => String(ungraded)),
    column(`pass@${k}`, ({ pass_at_k }) => figure(pass_at_k)),
    column(`pass^${k}`, ({ pass_hat_k }) => figure(pass_hat_k)),
    column("Wilson", ({ wilson }) => interval(wilson)),
    column("Clopper-Pearson", ({ clopper_pearson }) => interval(clopper_pearson)),
  ]);
  const more = report.per_task.length - rows.length;
  if (more > 0) lines.push(`... and ${more} more tasks (--json has them all)`);
  lines.push(
    "",
    `pass@${k} ${figure(report.pass_at_k)}   pass^${k} ${figure(report.pass_hat_k)}   means over tasks`,
    `score ${figure(report.score_mean)}   ${percent(confidence)} ${interval(report.score_ci)} (bootstrap over tasks and replicas, seed ${input.seed})`,
    `ICC(1) ${figure(report.icc1)}   ${percent(confidence)} ${interval(report.icc1_ci)}`,
    `${report.ungraded} ungraded, in none of the figures`,
  );
  for (const [path, reason] of Object.entries(report.reasons))
    if (!path.startsWith("per_task")) lines.push(`${path}: ${reason}`);
  return `${lines.join("\n")}\n`;
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(6))} %`;
