import type { Command } from "commander";
import { exitCodes } from "../exit-codes.js";
import { findGolden, goldenFolder } from "../../sandbox/microvm/golden-folder.js";
import { Quit } from "../failure.js";
import { describeGolden, mib, minute } from "../goldens.js";
import { printJson } from "../json.js";

export function define(command: Command): void {
  command
    .argument("<golden>", "state digest, key, a beginning of one (8 digits or more), or a file")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken golden show 0bac1f0e\n\nExit codes: 0 shown, 1 the file is damaged, 2 usage, 3 there is no such golden.",
    )
    .action(show);
}

async function show(named: string, options: { json?: boolean }): Promise<void> {
  const golden = await describeGolden(await findGolden(goldenFolder(), named), "index");
  const { facts, fault } = golden;
  if (options.json === true) printJson({ golden });
  if (facts === null) {
    process.stderr.write(`shinken: ${golden.path}: ${fault?.message ?? "unreadable"}\n`);
    throw new Quit(exitCodes.failed);
  }
  if (options.json === true) return;
  const layout = facts.compressed ? "compressed" : "mapped";
  const rows: [string, string][] = [
    ["file", golden.path],
    ["format", `version ${facts.version}, machine_abi ${facts.machineAbi}, ${layout}`],
    ["state", facts.digest],
    ["keys", golden.keys.join(" ") || "none"],
    ["image", golden.image ?? "none of those here"],
    ["used", minute(golden.usedMs)],
    ["on disk", mib(golden.bytes)],
    ["memory", mib(facts.memoryBytes)],
    [
      "pages",
      `${facts.storedPages} that are not zeros, ${facts.differentPages} different; ${mib(facts.pageBytes)} in the file`,
    ],
    ["code", `${facts.codeBlocks} blocks in ${facts.codePages} pages`],
    ...facts.disks.map(({ bytes, identity }): [string, string] => ["disk", `${identity} ${mib(bytes)}`]),
    ["note", facts.note],
  ];
  for (const [name, value] of rows) process.stdout.write(`${name.padEnd(8)} ${value}\n`);
}
