import { type Command, InvalidArgumentError, Option } from "commander";
import { ShinkenError } from "../../errors/index.js";
import type { ExportReport, Judged } from "../../replay/export/index.js";
import type { Grading } from "../../rollout/store/index.js";
import { exitCodes } from "../exit-codes.js";
import { repeated } from "../options.js";
import { Stage } from "../progress.js";

interface ExportCommandOptions {
  format: "steps" | "trl" | "verl" | "sft";
  to: string;
  minScore?: number;
  maxScore?: number;
  passed?: boolean;
  task?: string[];
  taskVersion?: string[];
  label?: Record<string, string>;
  verdicts?: string | true;
  includeUngraded?: boolean;
  includeEval?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<paths...>", "bundles (.skn), and folders with bundles in them")
    .addOption(
      new Option("--format <name>", "shape of the rows")
        .choices(["steps", "trl", "verl", "sft"])
        .default("steps"),
    )
    .requiredOption("--to <file>", "file to write; its ending says how: .jsonl or .parquet")
    .option("--min-score <score>", "only episodes with at least this score", score)
    .option("--max-score <score>", "only episodes with at most this score", score)
    .option("--passed", "only episodes whose verdict is passed")
    .option("--task <glob>", "only tasks whose ids match; repeatable", repeated)
    .option("--task-version <glob>", "only versions of tasks that match; repeatable", repeated)
    .option("--label <name=value>", "only episodes with this label; repeatable, all of them hold", labels)
    .option(
      "--verdicts [store]",
      "the latest of what `replay regrade` put into that run store stands in for recorded verdicts (default: runs.db in the state folder)",
    )
    .option("--include-ungraded", "also episodes that were not graded; their score is null, never 0")
    .option("--include-eval", "also episodes of tasks that are for measuring only (use: eval)")
    .option("--json", "print one JSON object: counts, and what was left out and why")
    .addHelpText(
      "after",
      "\nsteps: a row a step. trl, verl: a row an attempt, with token ids and log-probabilities. sft: a row an episode, as a chat.\n\nExamples:\n  shinken replay export runs/ --to steps.parquet\n  shinken replay export runs/ --format sft --passed --task 'sort-*' --to chat.jsonl\n  shinken replay export runs/ --format trl --label run=7 --min-score 0.5 --to attempts.parquet --json\n\nExit codes: 0 written, 1 written without files that could not be read, 2 usage or a place that cannot be written to, 3 the disk is full.",
    )
    .action(run);
}

function score(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value > 1) throw new InvalidArgumentError("must be a number from 0 to 1.");
  return value;
}

function labels(text: string, before: Record<string, string> | undefined): Record<string, string> {
  const at = text.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError("must be NAME=VALUE.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

async function run(paths: string[], options: ExportCommandOptions): Promise<void> {
  const [{ bundleFiles }, { exportBundles }, { printable }] = await Promise.all([
    import("../../replay/files.js"),
    import("../../replay/export/index.js"),
    import("../../replay/show/index.js"),
  ]);
  const verdicts =
    options.verdicts === undefined
      ? undefined
      : await regraded(options.verdicts === true ? undefined : options.verdicts);
  const stage = new Stage("replay export");
  const report = await exportBundles({
    files: await bundleFiles(paths),
    format: options.format,
    to: options.to,
    filter: {
      minScore: options.minScore,
      maxScore: options.maxScore,
      passed: options.passed,
      tasks: options.task,
      taskVersions: options.taskVersion,
      labels: options.label,
      includeUngraded: options.includeUngraded,
      includeEval: options.includeEval,
    },
    ...(verdicts === undefined ? {} : { verdicts }),
    onFile: (file, done, all) => stage.update(done, all, printable(file)),
  });
  stage.end();
  if (options.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
  else process.stdout.write(`${summary(report).map(printable).join("\n")}\n`);
  if (report.unreadable.length > 0) process.exitCode = exitCodes.failed;
}

/** The latest verdict on each episode that was graded again. */
async function regraded(path: string | undefined): Promise<Map<string, Judged>> {
  const { openRunStore } = await import("../../rollout/store/index.js");
  const store = openRunStore(path, { readonly: true });
  try {
    const gradings = store.gradings();
    if (gradings.length === 0)
      throw new ShinkenError("bad_request", `in ${store.path} nothing was graded again`, {
        path: "--verdicts",
      });
    return latest(gradings);
  } finally {
    store.close();
  }
}

function latest(gradings: readonly Grading[]): Map<string, Judged> {
  return new Map(
    gradings.map(({ episode, verifier, verdict: { status, score, passed } }) => [
      episode,
      { status, score, passed, verifier, from: "regraded" },
    ]),
  );
}

function summary(report: ExportReport): string[] {
  const { rows, episodes, files, to, bytes } = report;
  const out = Object.entries(report.left_out)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `  ${String(count).padStart(6)} left out: ${reason.replaceAll("_", " ")}`);
  return [
    `${rows} rows of ${episodes} episodes, from ${files} files, in ${to} (${bytes} bytes)`,
    ...out,
    ...report.unreadable.map(({ code, message }) => `  not read: ${message} (${code})`),
  ];
}
