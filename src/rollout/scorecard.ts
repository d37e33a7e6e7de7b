import type { EvaluationReport, Spread, TaskReport } from "./report.js";
import { type Column, renderTable } from "./table.js";

const share = (value: number | null): string => (value === null ? "-" : value.toFixed(2));
const count = (value: number | null): string => (value === null ? "-" : value.toFixed(1));

const interval = ([low, high]: [number, number]): string => `${share(low)} - ${share(high)}`;

/** The scorecard as people read it in a terminal; pass^k leads. */
export function renderScorecard(report: EvaluationReport, title = "Scorecard"): string {
  const k = report.replicas;
  const columns: Column<TaskReport>[] = [
    { title: "task", cell: (task) => task.id },
    { title: `pass^${k}`, right: true, cell: (task) => share(task.pass_hat_k) },
    {
      title: "95 %",
      right: true,
      cell: (task) => (task.pass_hat_k === null ? "-" : interval(task.pass_hat_k_ci)),
    },
    { title: "pass@1", right: true, cell: (task) => share(task.pass_at_1) },
    { title: "95 %", right: true, cell: (task) => interval(task.ci) },
    { title: "score", right: true, cell: (task) => share(task.score_mean) },
    {
      title: "milestones",
      right: true,
      cell: (task) => `${count(task.milestones.earned_mean)}/${task.milestones.total}`,
    },
    { title: "steps", right: true, cell: (task) => count(task.steps_mean) },
    {
      title: "human",
      right: true,
      cell: (task) => (task.human_steps === null ? "-" : String(task.human_steps)),
    },
    { title: "ungraded", right: true, cell: (task) => String(task.ungraded) },
  ];
  const { total, timing } = report;
  const heading = `${title}: operator ${report.operator}, ${total.tasks} tasks, ${k} replica${k === 1 ? "" : "s"} each, seed ${report.seed}`;
  const lines = [
    heading,
    "",
    ...renderTable(report.tasks, columns),
    "",
    `pass^${k} ${share(total.pass_hat_k)}   pass@1 ${share(total.pass_at_1)}   score ${share(total.score_mean)}   passed ${total.passed} of ${total.n} graded, ${total.ungraded} ungraded`,
    `fork to ready ${milliseconds(timing.ready_ms)}   reset ${milliseconds(timing.reset_ms)}   step ${milliseconds(timing.step_ms)}   evaluate ${milliseconds(timing.evaluate_ms)}`,
    `${timing.steps} steps in ${timing.seconds.toFixed(1)} s, ${timing.steps_per_s.toFixed(1)} steps/s, resets and grading included`,
  ];
  for (const task of report.tasks) {
    for (const reason of task.ungraded_reasons) lines.push(`ungraded ${task.id}: ${reason}`);
  }
  if (report.task_set !== null) lines.push(`task set ${report.task_set.slice(0, 16)}`);
  return `${lines.join("\n")}\n`;
}

function milliseconds({ p50, p99 }: Spread): string {
  if (p50 === null || p99 === null) return "-";
  return `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`;
}
