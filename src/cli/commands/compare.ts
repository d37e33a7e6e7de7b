import { type Command, InvalidArgumentError, Option } from "commander";
import type { ScoreProvenance, TaskComparison } from "../../rollout/store/index.js";
import { exitCodes } from "../exit-codes.js";
import { Quit, report as reportFailure } from "../failure.js";
import { printJson } from "../json.js";
import { integer } from "../options.js";
import { type ReportOptions, reportOptions, writeReports } from "../report-files.js";
import { readingStore, type StoreOption, storeOption } from "../run-store.js";

interface CompareCommandOptions extends StoreOption, ReportOptions {
  allowDifferent?: string[];
  provenance?: ScoreProvenance;
  alpha: number;
  margin: number;
  seed: number;
  json?: boolean;
}

/** Of a regression that is significant, and of nothing else. */
export const regressed = 3;

export function define(command: Command): void {
  reportOptions(
    storeOption(command.argument("<a>", "run that is compared with").argument("<b>", "run to judge")),
  )
    .option(
      "--allow-different <fields>",
      "compare although these differ: fields of the lock, separated by commas, or all; repeatable",
      (text: string, before: string[] | undefined) => [...(before ?? []), ...text.split(",")],
    )
    .addOption(
      new Option("--provenance <kind>", "which scores (default: those that came with the episodes)").choices([
        "recorded",
        "regraded",
        "self_reported",
      ]),
    )
    .option("--alpha <share>", "how often equal runs may be called a regression", below1, 0.05)
    .option("--margin <drop>", "a drop of the mean score that does not count", below1OrNone, 0)
    .option("--seed <n>", "of resampling: the same seed, the same figures", integer(0), 0)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nPairs the tasks of both runs. Runs that were not played alike are refused, and the message says what differs.\n\nExamples:\n  shinken compare 0b1f4f0e 77aa0c12\n  shinken compare 0b1f4f0e 77aa0c12 --allow-different model,revision --markdown report.md --svg report.svg\n\nExit codes: 0 no significant regression, 1 nothing could be compared, or the store cannot be read, 2 usage, no such run, or unequal conditions, 3 B is significantly worse than A.",
    )
    .action(compare);
}

function below1(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value <= 0 || value >= 1)
    throw new InvalidArgumentError("must be a number between 0 and 1.");
  return value;
}

const below1OrNone = (text: string): number => (/^0*\.?0+$/.test(text) ? 0 : below1(text));

async function compare(a: string, b: string, options: CompareCommandOptions): Promise<void> {
  try {
    process.exitCode = await compared(a, b, options);
  } catch (error) {
    // What is broken must not look like a regression.
    const code = reportFailure(error, options.json === true);
    throw new Quit(code === exitCodes.infrastructure ? exitCodes.failed : code);
  }
}

async function compared(a: string, b: string, options: CompareCommandOptions): Promise<number> {
  const { allowedFields, compareRuns } = await import("../../rollout/store/index.js");
  const { comparisonMarkdown, comparisonSvg, conclusion, notes } = await import(
    "../../rollout/store/report/comparison.js"
  );
  const { printable } = await import("../../replay/show/index.js");
  const { renderTable } = await import("../../rollout/table.js");
  const allowed = allowedFields(options.allowDifferent ?? []);
  const { alpha, margin, seed, provenance } = options;
  const comparison = await readingStore(options.store, (store) =>
    compareRuns(store, a, b, { allowed, alpha, margin, seed, provenance }),
  );
  writeReports(options, {
    markdown: () => comparisonMarkdown(comparison),
    svg: () => comparisonSvg(comparison),
  });
  if (options.json === true) printJson(comparison);
  else {
    const figure = (value: number | null): string => value?.toFixed(3) ?? "-";
    const lines = renderTable<TaskComparison>(comparison.tasks, [
      { title: "task", cell: ({ task }) => printable(task) },
      { title: "A", right: true, cell: ({ score_a }) => figure(score_a) },
      { title: "B", right: true, cell: ({ score_b }) => figure(score_b) },
      { title: "B - A", right: true, cell: ({ difference }) => figure(difference) },
      { title: "95 %", cell: ({ ci }) => (ci === null ? "-" : `${figure(ci[0])} to ${figure(ci[1])}`) },
      { title: "ungraded", cell: ({ ungraded_a, ungraded_b }) => `${ungraded_a}, ${ungraded_b}` },
    ]);
    const words = [...notes(comparison), conclusion(comparison)].map(printable);
    process.stdout.write(`${[...lines, "", ...words].join("\n")}\n`);
  }
  const { p, significant } = comparison.regression;
  if (p === null) return exitCodes.failed;
  return significant ? regressed : exitCodes.ok;
}
