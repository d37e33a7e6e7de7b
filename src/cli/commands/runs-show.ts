import type { Command } from "commander";
import type { RunStore } from "../../rollout/store/index.js";
import { readingStore, type StoreOption, storeOption } from "../run-store.js";
import { asJson } from "./runs-list.js";

interface ShowOptions extends StoreOption {
  json?: boolean;
}

/** A row of the view of this name. */
interface TaskScore {
  task: string;
  provenance: string;
  n: number;
  ungraded: number;
  judged: number;
  passed: number | null;
  score_mean: number | null;
  steps_mean: number | null;
}

export function define(command: Command): void {
  storeOption(command.argument("<run>", "id of a run, or its beginning"))
    .option("--json", "print one JSON object, with every attempt")
    .addHelpText(
      "after",
      "\nIts lock, then each task by where its scores come from; the reasons of replicas that were not graded; attempts that were tried again.\n\nExample:\n  shinken runs show 0b1f4f0e\n\nExit codes: 0 shown, 2 there is no such run or no store, 3 it cannot be read.",
    )
    .action(show);
}

async function show(named: string, options: ShowOptions): Promise<void> {
  const told = await readingStore(options.store, (store) => tellOf(store, named));
  const [{ printable, printableJson }, { renderTable }] = await Promise.all([
    import("../../replay/show/index.js"),
    import("../../rollout/table.js"),
  ]);
  const { run, tasks, episodes } = told;
  if (options.json === true) {
    process.stdout.write(`${printableJson({ ...asJson(run), tasks, attempts: episodes })}\n`);
    return;
  }
  const { settings, taskSet, seed, replicas, ...lock } = run.lock;
  const facts = [
    ["run", run.id],
    ["status", run.status],
    ["source", run.source],
    ["task_set", taskSet],
    ...Object.entries(lock),
    // Of a run that was put together from episodes, nobody knows the plan.
    ...(run.source === "imported" ? [] : Object.entries({ seed, replicas })),
    ...Object.entries(settings).map(([name, value]) => [`settings.${name}`, value]),
    ...Object.entries(run.labels).map(([name, value]) => [`label ${name}`, value]),
  ].filter(([, value]) => value !== null);
  const width = Math.max(...facts.map(([name]) => String(name).length));
  const lines = [
    ...facts.map(([name, value]) => `${String(name).padEnd(width)}  ${String(value)}`),
    "",
    ...renderTable<TaskScore>(tasks, [
      { title: "task", cell: ({ task }) => printable(task) },
      { title: "score from", cell: ({ provenance }) => provenance.replace("_", "-") },
      { title: "score", right: true, cell: ({ score_mean }) => score_mean?.toFixed(3) ?? "-" },
      {
        title: "passed",
        right: true,
        cell: ({ passed, judged }) => (judged === 0 ? "-" : `${passed}/${judged}`),
      },
      { title: "ungraded", right: true, cell: ({ ungraded }) => String(ungraded) },
      { title: "steps", right: true, cell: ({ steps_mean }) => steps_mean?.toFixed(1) ?? "-" },
    ]),
    ...episodes
      .filter(({ status }) => status === "ungraded")
      .map(
        ({ task, replica, attempt, reason }) =>
          `  ${task}, replica ${replica}, attempt ${attempt}: ${reason ?? ""}`,
      ),
  ];
  process.stdout.write(`${lines.map(printable).join("\n")}\n`);
}

function tellOf(store: RunStore, named: string) {
  const run = store.named(named);
  const tasks = store.all<TaskScore>(
    `SELECT task, provenance, n, ungraded, judged, passed, score_mean, steps_mean FROM task_scores
      WHERE run = @run ORDER BY task, provenance`,
    { run: run.id },
  );
  const episodes = store
    .episodes(run.id)
    .map(({ episode, task, replica, attempt, status, score, passed, reason, provenance, file }) => ({
      episode,
      task,
      replica,
      attempt,
      status,
      score,
      passed,
      reason,
      provenance,
      file,
    }));
  return { run, tasks, episodes };
}
