import type { Command } from "commander";
import { printJson } from "../json.js";
import { repeated } from "../options.js";
import { readingStore, type StoreOption, storeOption } from "../run-store.js";

interface ExportOptions extends StoreOption {
  to: string;
  run?: string[];
  json?: boolean;
}

export function define(command: Command): void {
  storeOption(command)
    .requiredOption("--to <file>", "file to write; its ending says how: .parquet or .jsonl")
    .option("--run <id>", "only this run; repeatable", repeated)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nA row for each verdict on each attempt, with the conditions of its run and where the score comes from.\n\nExample:\n  shinken runs export --to runs.parquet\n\nExit codes: 0 written, 2 usage, no such run, or a place that cannot be written to, 3 the disk is full or the store cannot be read.",
    )
    .action(run);
}

async function run({ store: path, to, run: named, json }: ExportOptions): Promise<void> {
  const { exportRuns } = await import("../../rollout/store/index.js");
  const report = await readingStore(path, async (store) => {
    const runs = named?.map((one) => store.named(one).id) ?? store.runs().map(({ id }) => id);
    return { to, runs: runs.length, ...(await exportRuns(store, runs, to)) };
  });
  if (json === true) printJson(report);
  else process.stdout.write(`${report.rows} rows of ${report.runs} runs in ${to} (${report.bytes} bytes)\n`);
}
