import type { Command } from "commander";
import { exitCodes } from "../exit-codes.js";
import { findGolden, goldenFiles, goldenFolder } from "../../sandbox/microvm/golden-folder.js";
import { Quit } from "../failure.js";
import { describeGolden } from "../goldens.js";
import { printJson } from "../json.js";

export function define(command: Command): void {
  command
    .argument("[goldens...]", "state digests, keys, beginnings of them, or files; all in the cache if unsaid")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nReads every page and compares all checksums and the state digest. The disks are not read.\n\nExample:\n  shinken golden verify\n\nExit codes: 0 all are whole, 1 one is damaged, 2 usage, 3 one is missing or cannot be read.",
    )
    .action(verify);
}

async function verify(named: string[], options: { json?: boolean }): Promise<void> {
  const folder = goldenFolder();
  const files =
    named.length > 0
      ? await Promise.all(named.map((name) => findGolden(folder, name)))
      : await goldenFiles(folder);
  const results = [];
  for (const file of files) {
    const { name, path, fault } = await describeGolden(file, "full");
    results.push({ name, path, fault });
    if (options.json !== true) process.stdout.write(`${name.slice(0, 16)} ${fault?.message ?? "whole"}\n`);
  }
  const damaged = results.filter((result) => result.fault !== null).length;
  if (options.json === true) printJson({ goldens: results, damaged });
  if (damaged > 0) throw new Quit(exitCodes.failed);
}
