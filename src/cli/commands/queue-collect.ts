import type { Command } from "commander";
import { openJournal } from "../outcome-journal.js";
import { printJson } from "../json.js";
import { Stage } from "../progress.js";

interface CollectOptions {
  queue: string;
  tasks: string;
  into?: string;
  wait: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<run>", "id of the run, as `shinken queue submit` printed it")
    .requiredOption("--queue <address>", "sqlite:FILE, or redis://HOST:PORT")
    .requiredOption("--tasks <dir>", "the folder of tasks that was submitted")
    .option("--into <file>", "JSON lines that keep the outcomes (default: RUN.jsonl in the state folder)")
    .option("--no-wait", "report what is there, and do not wait for the rest")
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken queue collect RUN --queue sqlite:queue.db --tasks tasks/demo\n\nThe report is the one of `shinken eval`. Results leave the queue once they are in the file; a collector that was killed goes on from there.\nExit codes: 0 every episode was graded, 1 some were not, 2 usage or a wrong task, 3 no queue.",
    )
    .action(collect);
}

async function collect(run: string, options: CollectOptions): Promise<void> {
  const [{ loadTasks }, { collectEvaluation, openQueue }, { renderScorecard }, { publishedScorers }] =
    await Promise.all([
      import("../../env/index.js"),
      import("../../rollout/queue/index.js"),
      import("../../rollout/index.js"),
      import("../../suites/index.js"),
    ]);
  const { tasks, digest } = await loadTasks(options.tasks, { scorers: publishedScorers });
  const queue = await openQueue(options.queue);
  try {
    const journal = await openJournal(run, options.into);
    const stage = new Stage(`queue: ${run}`);
    const report = await collectEvaluation(queue, {
      run,
      tasks,
      digest,
      kept: journal.kept,
      keep: journal.keep,
      signal: options.wait ? undefined : AbortSignal.abort(),
      onProgress: (done, all) => {
        stage.update(done, all, "");
      },
    });
    stage.end();
    if (options.json === true) printJson(report);
    else process.stdout.write(renderScorecard(report));
    if (report.total.ungraded > 0 || report.not_played > 0) process.exitCode = 1;
  } finally {
    await queue.close();
  }
}
