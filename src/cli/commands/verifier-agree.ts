import type { Command } from "commander";
import { exitCodes } from "../exit-codes.js";
import { repeated } from "../options.js";
import { casesOf, writeRecord } from "./verifier-corpus.js";

interface AgreeOptions {
  tasks?: string;
  only?: string[];
  record?: string;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument(
      "<labels>",
      "labelled end states (a file or a folder), or recorded verdicts with labels (.jsonl)",
    )
    .option("--tasks <dir>", "folder of their tasks (default: what the labels name)")
    .option("--only <state>", "grade this state only; may be repeated", repeated)
    .option("--record <file>", "write verdicts and labels to this file, one JSON object a line")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExamples:\n  shinken verifier agree tasks/demo-labels\n  shinken verifier agree judged.jsonl --json\n\nExit codes: 0 reported, 1 a state marked as agreed is graded otherwise, 2 a file is wrong, 3 no machine can be made.",
    )
    .action(agree);
}

async function agree(path: string, options: AgreeOptions): Promise<void> {
  const { agreements, renderAgreements } = await import("../../rollout/calibration/index.js");
  const cases = await casesOf(path, { ...options, stage: "verifier agree" });
  if (options.record !== undefined) await writeRecord(options.record, cases);
  const reports = agreements(cases);
  process.stdout.write(
    options.json === true ? `${JSON.stringify({ graders: reports })}\n` : renderAgreements(reports),
  );
  if (reports.some(({ broken }) => broken.length > 0)) process.exitCode = exitCodes.failed;
}
