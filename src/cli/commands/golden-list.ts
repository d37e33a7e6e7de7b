import type { Command } from "commander";
import { goldenFiles, goldenFolder } from "../../sandbox/microvm/golden-folder.js";
import { describeGolden, mib, minute, type DescribedGolden } from "../goldens.js";
import { printJson } from "../json.js";

export function define(command: Command): void {
  command
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nReads headers and indexes, not pages. Sizes are what the files take on disk.\n\nExample:\n  shinken golden list --json",
    )
    .action(list);
}

async function list(options: { json?: boolean }): Promise<void> {
  const goldens: DescribedGolden[] = [];
  for (const file of await goldenFiles(goldenFolder())) goldens.push(await describeGolden(file, "index"));
  if (options.json === true) {
    printJson({ goldens });
    return;
  }
  if (goldens.length === 0) process.stdout.write("no golden yet; the first run of an image makes one\n");
  for (const golden of goldens) process.stdout.write(`${line(golden)}\n`);
}

function line({ name, bytes, usedMs, keys, facts, image, fault }: DescribedGolden): string {
  const start = `${name.slice(0, 16)} ${mib(bytes).padStart(9)}  used ${minute(usedMs)}`;
  if (facts === null) return `${start}  ${fault?.message ?? "unreadable"}`;
  const remarks = [
    ...(facts.compressed ? ["compressed"] : []),
    ...(facts.codeBlocks > 0 ? [] : ["no code"]),
    ...(keys.length > 0 ? [] : ["no key"]),
  ];
  const end = remarks.length > 0 ? `  (${remarks.join(", ")})` : "";
  return `${start}  ${(image ?? "no image").padEnd(12)} ${mib(facts.memoryBytes)} of memory${end}`;
}
