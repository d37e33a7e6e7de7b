import { type Command, Option } from "commander";
import {
  type Profile,
  profiles,
  runVectors,
  type VectorReport,
  type VectorTally,
} from "../../suites/index.js";
import { exitCodes } from "../exit-codes.js";
import { readJson } from "./verifier-files.js";

interface VectorOptions {
  profile: Profile;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<file>", "JSON: inputs and outputs of published scorers, in lists by the scorer's name")
    .addOption(
      new Option("--profile <name>", "which reading of the scorers").choices(profiles).default("faithful"),
    )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken verifier vectors scoring-vectors.json --json\n\nExit codes: 0 nothing differs, 1 something does, 2 the file is wrong.",
    )
    .action(vectors);
}

async function vectors(file: string, options: VectorOptions): Promise<void> {
  const { report, tallies } = runVectors(
    await readJson(file, "name a file with one JSON object of vectors"),
    options.profile,
  );
  // Not `printJson`: the names inside the values are not ours.
  process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : render(report, tallies));
  if (report.different.length > 0) process.exitCode = exitCodes.failed;
}

function render(report: VectorReport, tallies: readonly VectorTally[]): string {
  const width = Math.max(6, ...tallies.map(({ scorer }) => scorer.length));
  const line = (name: string, ...columns: (string | number)[]): string =>
    `${name.padEnd(width)}${columns.map((column) => String(column).padStart(11)).join("")}\n`;
  let text = line("scorer", "equal", "skipped", "different");
  for (const { scorer, equal, skipped, different } of tallies)
    text += line(scorer, equal, skipped, different);
  text += line("all", report.equal, report.skipped, report.different.length);
  for (const { scorer, index, expected, got } of report.different) {
    text += `${scorer}[${index}]: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}\n`;
  }
  return text;
}
