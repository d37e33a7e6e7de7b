import type { Command } from "commander";
import { printJson } from "../json.js";

interface StatusOptions {
  queue: string;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .requiredOption("--queue <address>", "sqlite:FILE, or redis://HOST:PORT")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken queue status --queue sqlite:queue.db\n\nExit codes: 0 nothing is dead, 1 something is.",
    )
    .action(status);
}

async function status(options: StatusOptions): Promise<void> {
  const { openQueue } = await import("../../rollout/queue/index.js");
  const queue = await openQueue(options.queue);
  try {
    const [stats, nodes, dead] = [await queue.stats(), await queue.nodes(), await queue.dead()];
    if (dead.length > 0) process.exitCode = 1;
    if (options.json === true) {
      printJson({ stats, nodes, dead });
      return;
    }
    const { waiting, delayed, leased, done } = stats;
    process.stdout.write(
      `${waiting} wait, ${delayed} wait for another try, ${leased} are played, ${done} are to be collected, ${dead.length} are dead\n`,
    );
    for (const { node, goldens } of nodes) process.stdout.write(`node ${node}: ${goldens.length} goldens\n`);
    for (const { id, attempts, reason } of dead)
      process.stdout.write(`dead: ${id} after ${attempts} attempts: ${reason}\n`);
  } finally {
    await queue.close();
  }
}
