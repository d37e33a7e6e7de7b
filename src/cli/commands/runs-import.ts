import type { Command } from "commander";
import type { ImportReport } from "../../rollout/store/index.js";
import { exitCodes } from "../exit-codes.js";
import { Stage } from "../progress.js";
import { type StoreOption, storeOption, writingStore } from "../run-store.js";

interface ImportOptions extends StoreOption {
  json?: boolean;
}

export function define(command: Command): void {
  storeOption(
    command.argument(
      "<paths...>",
      "bundles (.skn), folders with bundles in them, and reports of results (.json)",
    ),
  )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nWhat is there already is left out, so that a folder can be imported again as it grows. A report is\n  {task_set, operator, model?, source, results: [{task, score, passed?, replica?, ...}], ...}\nand its scores are stored as self-reported.\n\nExamples:\n  shinken runs import runs/\n  shinken runs import published.json\n\nExit codes: 0 imported, 1 some files could not be read or contradict the store, 2 usage or a report that is wrong, 3 the store cannot be written to.",
    )
    .action(run);
}

async function run(paths: string[], options: ImportOptions): Promise<void> {
  const [{ importBundles, importReported }, { printable, printableJson }] = await Promise.all([
    import("../../rollout/store/index.js"),
    import("../../replay/show/index.js"),
  ]);
  const reports = paths.filter((path) => path.endsWith(".json"));
  const bundles = paths.filter((path) => !path.endsWith(".json"));
  const stage = new Stage("runs import");
  const told = await writingStore(options.store, async (store) => {
    const reported = [];
    for (const path of reports) reported.push(await importReported(store, path));
    const imported =
      bundles.length === 0
        ? nothing
        : await importBundles(store, bundles, (file, done, all) => stage.update(done, all, printable(file)));
    return { store: store.path, ...imported, reported };
  });
  stage.end();
  if (options.json === true) process.stdout.write(`${printableJson(told)}\n`);
  else {
    for (const line of words(told)) process.stdout.write(`${printable(line)}\n`);
    for (const { run: id, episodes, made } of told.reported)
      process.stdout.write(
        `run ${id.slice(0, 8)}: ${made ? `${episodes} self-reported results` : "known"}\n`,
      );
  }
  if (told.unreadable.length + told.conflicts.length > 0) process.exitCode = exitCodes.failed;
}

const nothing: ImportReport = {
  files: 0,
  runs: [],
  known: 0,
  branches: 0,
  unfinished: 0,
  conflicts: [],
  unreadable: [],
};

function words({ files, runs, known, branches, unfinished, conflicts, unreadable }: ImportReport): string[] {
  const out = { known, branches, unfinished };
  return [
    ...runs.map(
      ({ run: id, episodes, made }) => `run ${id.slice(0, 8)}${made ? "" : " (known)"}: ${episodes} episodes`,
    ),
    ...(files === 0
      ? []
      : [
          `${files} files; left out: ${Object.entries(out)
            .map(([name, count]) => `${count} ${name}`)
            .join(", ")}`,
        ]),
    ...conflicts.map(
      ({ file, episode }) => `  ${file} tells something else of episode ${episode} than the store`,
    ),
    ...unreadable.map(({ message }) => `  not read: ${message}`),
  ];
}
