import type { Command } from "commander";

export function define(command: Command): void {
  command
    .addHelpText(
      "after",
      "\nExample:\n  shinken task schema > task.schema.json\n\nAn editor with a YAML language server completes and checks a task file whose first line is\n  # yaml-language-server: $schema=./task.schema.json",
    )
    .action(print);
}

async function print(): Promise<void> {
  const { taskJsonSchema } = await import("../../env/task/index.js");
  process.stdout.write(`${JSON.stringify(taskJsonSchema(), null, 2)}\n`);
}
