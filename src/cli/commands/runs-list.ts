import type { Command } from "commander";
import type { RunInfo } from "../../rollout/store/index.js";
import { readingStore, type StoreOption, storeOption } from "../run-store.js";

interface ListOptions extends StoreOption {
  taskSet?: string;
  operator?: string;
  model?: string;
  json?: boolean;
}

export function define(command: Command): void {
  storeOption(command)
    .option("--task-set <digest>", "only runs of this task set")
    .option("--operator <name>", "only runs of this operator")
    .option("--model <name>", "only runs of this model")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nThe latest first. `shinken runs` alone does the same.\n\nExamples:\n  shinken runs\n  shinken runs list --model m-1 --json\n\nExit codes: 0 listed, 2 there is no store, 3 it cannot be read.",
    )
    .action(list);
}

async function list({ store: path, json, ...filter }: ListOptions): Promise<void> {
  const { runs, file } = await readingStore(path, (store) => ({
    runs: store.runs(filter),
    file: store.path,
  }));
  const [{ printable, printableJson }, { renderTable }] = await Promise.all([
    import("../../replay/show/index.js"),
    import("../../rollout/table.js"),
  ]);
  if (json === true) {
    process.stdout.write(`${printableJson({ store: file, runs: runs.map(asJson) })}\n`);
    return;
  }
  if (runs.length === 0) {
    process.stdout.write(`${printable(file)} holds no such runs\n`);
    return;
  }
  const lines = renderTable<RunInfo>(runs, [
    { title: "run", cell: ({ id }) => printable(id.slice(0, 8)) },
    { title: "began", cell: ({ began }) => new Date(began).toISOString().slice(0, 16).replace("T", " ") },
    { title: "status", cell: ({ status }) => status },
    { title: "source", cell: ({ source }) => source },
    { title: "task set", cell: ({ lock }) => printable(lock.taskSet.slice(0, 12)) },
    { title: "operator", cell: ({ lock }) => printable(lock.operator) },
    { title: "model", cell: ({ lock }) => printable(lock.model ?? "-") },
    { title: "episodes", right: true, cell: ({ episodes }) => String(episodes) },
  ]);
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** With names as on the wire; those in settings and labels are their writers'. */
export function asJson({ id, lock: { taskSet, ...lock }, ...run }: RunInfo): object {
  return { run: id, ...run, lock: { task_set: taskSet, ...lock } };
}
