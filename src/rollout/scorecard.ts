import type { EvaluationReport, Spread, TaskReport } from "./report.js";
import { efficiencyLines } from "./efficiency/index.js";
import { type Column, renderTable } from "./table.js";

const share = (value: number | null): string => (value === null ? "-" : value.toFixed(2));
const count = (value: number | null): string => (value === null ? "-" : value.toFixed(1));

const interval = ([low, high]: [number, number]): string => `${share(low)} - ${share(high)}`;

/** The scorecard as people read it in a terminal; pass^k leads. */
export function renderScorecard(report: EvaluationReport, title = "Scorecard"): string {
  const lines = [
    headingOf(report, title),
    "",
    ...renderTable(report.tasks, taskColumns(report)),
    "",
    ...summaryLines(report),
  ];
  return `${lines.join("\n")}\n`;
}

export function headingOf(
  { operator, total, replicas: k, seed, until }: EvaluationReport,
  title: string,
): string {
  const each = until === null ? "each" : `each or more, until the 95 % interval is ${until.width} wide`;
  return `${title}: operator ${operator}, ${total.tasks} tasks, ${k} replica${k === 1 ? "" : "s"} ${each}, seed ${seed}`;
}

/** A row a task. */
export function taskColumns({ replicas: k, best_of: bestOf, until }: EvaluationReport): Column<TaskReport>[] {
  return [
    { title: "task", cell: (task) => task.id },
    ...(bestOf === null ? passColumns(k) : [bestOfColumn(bestOf.n)]),
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
    ...(until === null
      ? []
      : [{ title: "replicas", right: true, cell: (task: TaskReport) => String(task.n + task.ungraded) }]),
    { title: "ungraded", right: true, cell: (task) => String(task.ungraded) },
  ];
}

/** Totals, times, pools, and all that went wrong. */
export function summaryLines(report: EvaluationReport): string[] {
  const { total, timing, replicas: k, best_of: bestOf } = report;
  const lines = [
    `${bestOf === null ? `pass^${k} ${share(total.pass_hat_k)}   pass@1 ${share(total.pass_at_1)}` : `best of ${bestOf.n} ${share(total.best_of_n)}`}   score ${share(total.score_mean)}${total.score_ci === null ? "" : ` (${interval(total.score_ci)})`}   passed ${total.passed} of ${total.n} graded, ${total.ungraded} ungraded`,
    `fork to ready ${milliseconds(timing.ready_ms)}   reset ${milliseconds(timing.reset_ms)}   step ${milliseconds(timing.step_ms)}   evaluate ${milliseconds(timing.evaluate_ms)}`,
    paceLine(timing),
    ...efficiencyLines(report.efficiency),
  ];
  if (bestOf !== null) lines.push(bestOfLine(bestOf));
  lines.push(...pipelineLines(report));
  for (const task of report.tasks) {
    for (const reason of task.ungraded_reasons) lines.push(`ungraded ${task.id}: ${reason}`);
  }
  if (report.task_set !== null) lines.push(`task set ${report.task_set.slice(0, 16)}`);
  lines.push(`run ${report.run}`);
  return lines;
}

function passColumns(k: number): Column<TaskReport>[] {
  return [
    { title: `pass^${k}`, right: true, cell: (task) => share(task.pass_hat_k) },
    {
      title: "95 %",
      right: true,
      cell: (task) => (task.pass_hat_k === null ? "-" : interval(task.pass_hat_k_ci)),
    },
    { title: "pass@1", right: true, cell: (task) => share(task.pass_at_1) },
  ];
}

function paceLine({ steps, seconds, steps_per_s }: EvaluationReport["timing"]): string {
  return steps_per_s === null
    ? `${steps} steps, ${seconds.toFixed(1)} s after they were queued`
    : `${steps} steps in ${seconds.toFixed(1)} s, ${steps_per_s.toFixed(1)} steps/s, resets and grading included`;
}

const bestOfColumn = (n: number): Column<TaskReport> => ({
  title: `best of ${n}`,
  right: true,
  cell: (task) => share(task.best_of_n),
});

/** So that nobody takes it for pass@1. */
function bestOfLine({ n, rule, from_step }: NonNullable<EvaluationReport["best_of"]>): string {
  const from = from_step === 0 ? "each from the start" : `forked after step ${from_step}`;
  const by = { score: "the graders' score: an upper bound", reward: "the milestones' reward" }[rule];
  return `each replica is the best of ${n} tries, ${from}, chosen by ${by ?? "who declared the end first"}; it is not pass@1`;
}

/** What the pools did, and what went wrong on the way. */
function pipelineLines({ pipeline, not_played }: EvaluationReport): string[] {
  const unplayed = not_played > 0 ? [`${not_played} replicas were not played: the run was ended`] : [];
  if (pipeline === null) return unplayed;
  const pools = [pipeline.init, pipeline.run, pipeline.verify].map(
    ({ name, size, utilisation, waitingMs }) =>
      `${name} ${size} slot${size === 1 ? "" : "s"} ${Math.round(utilisation * 100)} % busy, waited ${milliseconds(waitingMs)}`,
  );
  return [
    `pools: ${pools.join("; ")}`,
    ...(pipeline.retries > 0
      ? [`${pipeline.retries} attempts failed and were made again on a fresh fork`]
      : []),
    ...(pipeline.leftBehind > 0 ? [`${pipeline.leftBehind} sessions did not answer to their close`] : []),
    ...pipeline.breakers.map(
      ({ key, opened, state, why }) =>
        `circuit of image ${key}: opened ${opened} time${opened === 1 ? "" : "s"}, now ${state}: ${why.join("; ")}`,
    ),
    ...unplayed,
  ];
}

function milliseconds({ p50, p99 }: Spread): string {
  if (p50 === null || p99 === null) return "-";
  return `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} ms`;
}
