import type { Command } from "commander";
import { collectGoldens, GOLDEN_BUDGET } from "../../sandbox/microvm/golden-care.js";
import { goldenFolder } from "../../sandbox/microvm/golden-folder.js";
import { mib } from "../goldens.js";
import { integer } from "../options.js";
import { printJson } from "../json.js";

interface CollectOptions {
  maxMib?: number;
  compress?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .option("--max-mib <n>", "what may stay in all, those used last first (default: 8192)", integer(0))
    .option("--compress", "compress what stays and was not used for a day; its next start takes longer")
    .option("--dry-run", "say what would be done, and do nothing")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nRemoves goldens that nothing can use any more (damaged, of another machine_abi, without key or image) and what is beyond the limit. One used within an hour stays; machines that run keep what they need.\n\nExample:\n  shinken golden gc --dry-run",
    )
    .action(collect);
}

async function collect(options: CollectOptions): Promise<void> {
  const done = await collectGoldens(goldenFolder(), {
    keptBytes: options.maxMib === undefined ? GOLDEN_BUDGET : options.maxMib * 1024 ** 2,
    compress: options.compress === true,
    dryRun: options.dryRun === true,
  });
  if (options.json === true) {
    printJson({ done, dryRun: options.dryRun === true });
    return;
  }
  const would = options.dryRun === true ? "would be " : "";
  for (const { path, action, reason } of done)
    process.stdout.write(`${would}${action}: ${path}: ${reason}\n`);
  const freed = done.reduce((sum, { freedBytes }) => sum + freedBytes, 0);
  process.stdout.write(
    options.dryRun === true ? `${mib(freed)} would be removed\n` : `${mib(freed)} freed\n`,
  );
}
