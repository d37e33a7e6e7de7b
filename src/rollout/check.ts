import type { LoadedTask, Task, TaskVariant } from "../env/task/index.js";
import { ShinkenError } from "../errors/index.js";
import type { SandboxProvider } from "../sandbox/sandbox.js";
import type { JudgeModel } from "../verifiers/index.js";
import { type GateName, gateNames, gateTable, type Problem } from "./gate-table.js";
import { TaskGates, type VariantFindings } from "./gates.js";
import { renderTable } from "./table.js";

export interface CheckTasksOptions {
  tasks: readonly LoadedTask[];
  provider: SandboxProvider;
  /** Answers judge nodes. */
  judge?: JudgeModel | undefined;
  /** Variants that are tried of a task with parameters; 3 if unsaid. */
  variants?: number;
  /** Told as each task has been examined. */
  onTask?: (finding: TaskFinding, done: number, all: number) => void;
}

export interface TaskFinding {
  id: string;
  /** What a sensible agent does, as the task says. */
  expect: Task["expect"];
  /** Lowest score of the oracle over the variants; must be 1. Null: ungraded. */
  oracle: number | null;
  /** Highest scores over the variants of agents that do nothing, give up, or only say that they are done; must be 0. */
  null: number | null;
  /** May be above 0 where `expect` is `refuse`: what cannot be done is rightly given up. */
  fail_only: number | null;
  done_only: number | null;
  /** Every mutation flips what it names, and every check is flipped by one. */
  mutations_flipped: boolean;
  milestones: number;
  variants: number;
  /** Gates that it does not pass. */
  failed_gates: GateName[];
  /** Gates that were not reached: the machine failed before. */
  not_run: GateName[];
  /** What is wrong, each in a sentence. */
  problems: string[];
  ok: boolean;
}

export interface CheckTasksReport {
  /** Every gate with what it demands. */
  gates: { gate: GateName; demands: string }[];
  tasks: TaskFinding[];
  ok: boolean;
}

const defaultVariants = 3;

/**
 * Runs the gates on every task: the oracle scores 1, doing nothing and giving up score 0, every check can fail, the order
 * of tasks does not matter, replicas do not see each other. A task whose machine fails has that as its problem.
 */
export async function checkTasks(options: CheckTasksOptions): Promise<CheckTasksReport> {
  const gates = new TaskGates(options.provider, options.judge);
  try {
    const findings: TaskFinding[] = [];
    for (const task of options.tasks) {
      const finding = await examineTask(gates, task, options.variants ?? defaultVariants);
      findings.push(finding);
      options.onTask?.(finding, findings.length, options.tasks.length);
    }
    // Once more from the last to the first: what one task left behind would show in another's score.
    for (let index = findings.length - 1; index >= 0; index -= 1) {
      const [task, finding] = [options.tasks[index], findings[index]];
      if (task !== undefined && finding !== undefined) await compareInReverse(gates, task, finding);
    }
    return {
      gates: gateNames.map((gate) => ({ gate, demands: gateTable[gate] })),
      tasks: findings,
      ok: findings.every(({ ok }) => ok),
    };
  } finally {
    gates.close();
  }
}

function variantsOf(task: LoadedTask, count: number): TaskVariant[] {
  const wanted = Object.keys(task.paramSpecs).length === 0 ? 1 : count;
  const found = new Map<string, TaskVariant>();
  // Small ranges draw the same values now and then; a bounded number of further seeds finds others.
  for (let seed = 1; seed <= wanted * 4 && found.size < wanted; seed += 1) {
    const variant = task.variant({ seed });
    found.set(variant.digest, variant);
  }
  return [...found.values()];
}

async function examineTask(gates: TaskGates, task: LoadedTask, count: number): Promise<TaskFinding> {
  const variants = variantsOf(task, count);
  const found: VariantFindings[] = [];
  const problems: Problem[] = [];
  for (const variant of variants) {
    const name = variants.length === 1 ? "" : `with ${JSON.stringify(variant.params)}: `;
    try {
      const findings = await gates.examine(task, variant);
      found.push(findings);
      problems.push(...findings.problems.map(({ gate, problem }) => ({ gate, problem: name + problem })));
    } catch (error) {
      const why = error instanceof ShinkenError ? told(error) : String(error);
      problems.push({ gate: "runs", problem: name + why });
    }
  }
  const whole = found.length === variants.length;
  const extreme = (
    pick: (one: VariantFindings) => number | null,
    choose: (...values: number[]) => number,
  ): number | null => {
    const scores = found.map(pick);
    return whole && scores.every((score) => score !== null) ? choose(...scores) : null;
  };
  const failed = (gate: GateName): boolean => problems.some((one) => one.gate === gate);
  return {
    id: task.id,
    expect: task.variant().task.expect,
    oracle: extreme(({ oracle }) => oracle, Math.min),
    null: extreme((one) => one.null, Math.max),
    fail_only: extreme(({ failOnly }) => failOnly, Math.max),
    done_only: extreme(({ doneOnly }) => doneOnly, Math.max),
    mutations_flipped: whole && found.every(({ mutationsFlipped }) => mutationsFlipped),
    milestones: variants[0]?.graph.milestones.length ?? 0,
    variants: variants.length,
    failed_gates: gateNames.filter(failed),
    not_run: whole ? [] : gateNames.filter((gate) => gate !== "runs" && !failed(gate)),
    problems: problems.map(({ problem }) => problem),
    ok: problems.length === 0,
  };
}

function told({ code, message, suggestion }: ShinkenError): string {
  return `${code}: ${message}${suggestion === undefined ? "" : ` (${suggestion})`}`;
}

async function compareInReverse(gates: TaskGates, task: LoadedTask, finding: TaskFinding): Promise<void> {
  const [variant] = variantsOf(task, 1);
  if (variant === undefined || finding.oracle === null) {
    if (!finding.not_run.includes("order")) finding.not_run.push("order");
    return;
  }
  try {
    const score = await gates.oracleScore(task, variant);
    if (finding.oracle !== 1 || score === 1) return;
    finding.problems.push(`the oracle scores ${score} when tasks run in reverse order`);
  } catch (error) {
    finding.problems.push(`in reverse order: ${String(error)}`);
  }
  finding.failed_gates.push("order");
  finding.ok = false;
}

/** The findings as people read them in a terminal. */
export function renderCheck(report: CheckTasksReport): string {
  const score = (value: number | null): string => (value === null ? "-" : value.toFixed(2));
  const lines = renderTable(report.tasks, [
    { title: "task", cell: ({ id }) => id },
    { title: "expect", cell: ({ expect }) => expect },
    { title: "oracle", right: true, cell: ({ oracle }) => score(oracle) },
    { title: "null", right: true, cell: (task) => score(task.null) },
    { title: "done only", right: true, cell: (task) => score(task.done_only) },
    { title: "fail only", right: true, cell: (task) => score(task.fail_only) },
    { title: "milestones", right: true, cell: ({ milestones }) => String(milestones) },
    { title: "variants", right: true, cell: ({ variants }) => String(variants) },
    { title: "mutations", right: true, cell: (task) => (task.mutations_flipped ? "flip" : "do not flip") },
    { title: "", cell: ({ ok }) => (ok ? "ok" : "NOT OK") },
  ]);
  for (const task of report.tasks) for (const problem of task.problems) lines.push(`${task.id}: ${problem}`);
  lines.push("", "gates");
  for (const { gate, demands } of report.gates) {
    const failing = report.tasks.filter((task) => task.failed_gates.includes(gate)).map(({ id }) => id);
    const open = report.tasks.filter((task) => task.not_run.includes(gate)).map(({ id }) => id);
    const states = [
      failing.length === 0 ? "" : `NOT OK: ${failing.join(", ")}`,
      open.length === 0 ? "" : `not run: ${open.join(", ")}`,
    ].filter((one) => one !== "");
    const state = states.length === 0 ? "ok" : states.join("; ");
    lines.push(
      `  ${gate.padEnd(Math.max(...gateNames.map((name) => name.length)))}  ${state}`,
      `    ${demands}`,
    );
  }
  return `${lines.join("\n")}\n`;
}
