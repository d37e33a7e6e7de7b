import type { Command } from "commander";
import type { BundleCheck } from "../../replay/index.js";
import { exitCodes } from "../exit-codes.js";
import { Quit } from "../failure.js";
import { printJson } from "../json.js";

export function define(command: Command): void {
  command
    .argument("<path>", "a bundle, or a folder of them")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nCompares every file with its hash in the index, its own checksums, and the content beside it with the names that it has.\n\nExample:\n  shinken replay check bundles/\n\nExit codes: 0 all are whole or being written, 1 some are not, 2 usage, 3 a file cannot be read.",
    )
    .action(run);
}

async function run(path: string, options: { json?: boolean }): Promise<void> {
  const { check, isSound } = await import("../../replay/index.js");
  const files = await check(path);
  const ok = files.every(isSound);
  if (options.json === true) printJson({ files, ok });
  else for (const each of files) process.stdout.write(`${line(each)}\n`);
  if (!ok) throw new Quit(exitCodes.failed);
}

function line({ file, status, damage, blobs }: BundleCheck): string {
  const more = [
    ...(damage === null ? [] : [`byte ${damage.at}: ${damage.what}`]),
    ...blobs.map(({ message }) => message),
  ];
  return `${status.padEnd(10)} ${file}${more.length === 0 ? "" : ` (${more.join("; ")})`}`;
}
