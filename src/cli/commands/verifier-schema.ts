import type { Command } from "commander";

export function define(command: Command): void {
  command
    .addHelpText(
      "after",
      "\nExample:\n  shinken verifier schema > labels.schema.json\n\nAn editor with a YAML language server completes and checks a label file whose first line is\n  # yaml-language-server: $schema=./labels.schema.json",
    )
    .action(print);
}

async function print(): Promise<void> {
  const { labelsJsonSchema } = await import("../../rollout/calibration/index.js");
  process.stdout.write(`${JSON.stringify(labelsJsonSchema(), null, 2)}\n`);
}
