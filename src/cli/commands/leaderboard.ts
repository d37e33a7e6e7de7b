import { type Command, Option } from "commander";
import type { LeaderboardRow, ScoreProvenance } from "../../rollout/store/index.js";
import { type ReportOptions, reportOptions, writeReports } from "../report-files.js";
import { readingStore, type StoreOption, storeOption } from "../run-store.js";

interface LeaderboardOptions extends StoreOption, ReportOptions {
  taskSet?: string;
  provenance?: ScoreProvenance;
  json?: boolean;
}

export function define(command: Command): void {
  reportOptions(storeOption(command))
    .option("--task-set <digest>", "only this task set, by its digest or the digest's beginning")
    .addOption(
      new Option("--provenance <kind>", "only scores from there").choices([
        "recorded",
        "regraded",
        "self_reported",
      ]),
    )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nA table for each task set, the best first. A line is one run by one provenance: what was recorded here, graded again later, or told by somebody is in no common mean.\n\nExamples:\n  shinken leaderboard\n  shinken leaderboard --task-set 5e1f --markdown board.md --svg board.svg\n\nExit codes: 0 shown, 2 usage or no store, 3 it cannot be read.",
    )
    .action(show);
}

async function show(options: LeaderboardOptions): Promise<void> {
  const { leaderboard } = await import("../../rollout/store/index.js");
  const { leaderboardMarkdown, leaderboardSvg, playerOf, provenanceOf, remarks, sectionsOf } = await import(
    "../../rollout/store/report/leaderboard.js"
  );
  const { printable, printableJson } = await import("../../replay/show/index.js");
  const { renderTable } = await import("../../rollout/table.js");
  const rows = await readingStore(options.store, (store) =>
    leaderboard(store, { taskSet: options.taskSet, provenance: options.provenance }),
  );
  writeReports(options, {
    markdown: () => leaderboardMarkdown(rows),
    svg: () => leaderboardSvg(rows),
  });
  if (options.json === true) {
    process.stdout.write(`${printableJson({ rows })}\n`);
    return;
  }
  if (rows.length === 0) process.stdout.write("no run has a score\n");
  for (const [taskSet, section] of sectionsOf(rows)) {
    const lines = renderTable<LeaderboardRow>(section, [
      { title: "run", cell: ({ run }) => printable(run.slice(0, 8)) },
      { title: "player", cell: (row) => printable(playerOf(row)) },
      { title: "score from", cell: provenanceOf },
      { title: "score", right: true, cell: ({ score_mean }) => score_mean?.toFixed(3) ?? "-" },
      {
        title: "95 %",
        cell: ({ score_ci: ci }) => (ci === null ? "-" : `${ci[0].toFixed(3)}-${ci[1].toFixed(3)}`),
      },
      {
        title: "passed",
        right: true,
        cell: ({ passed, judged }) => (judged === 0 ? "-" : `${passed}/${judged}`),
      },
      { title: "tasks", right: true, cell: ({ tasks }) => String(tasks) },
      { title: "ungraded", right: true, cell: ({ ungraded, missing }) => String(ungraded + missing) },
      { title: "graded by", cell: ({ graded_by }) => printable(graded_by) },
    ]);
    process.stdout.write(`task set ${printable(taskSet.slice(0, 16))}\n${lines.join("\n")}\n`);
    for (const remark of remarks(section)) process.stdout.write(`${remark}\n`);
    process.stdout.write("\n");
  }
}
