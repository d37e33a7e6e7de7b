import type { Command } from "commander";
import { printJson } from "../json.js";
import { integer } from "../options.js";

interface SubmitOptions {
  queue: string;
  operator: string;
  replicas: number;
  seed: number;
  priority: number;
  attempts: number;
  run?: string;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<dir>", "folder of tasks")
    .requiredOption("--queue <address>", "sqlite:FILE, or redis://HOST:PORT")
    .option("--operator <name>", "who plays: oracle, null, fail or done", "oracle")
    .option("--replicas <k>", "episodes of each task", integer(1, 10_000), 5)
    .option("--seed <n>", "run seed: the same seed, the same parameters and machines", integer(0), 0)
    .option("--priority <n>", "a higher one goes before other runs", integer(0, 1_000), 0)
    .option("--attempts <n>", "nodes that may try an episode before it is dead", integer(1, 100), 3)
    .option("--run <id>", "add what is missing of this run, instead of making a new one")
    .option("--json", 'print {"run", "jobs"}')
    .addHelpText(
      "after",
      "\nExample:\n  shinken queue submit tasks/demo --queue sqlite:queue.db --replicas 5\n\nPrints the run's id, for `shinken queue collect`.",
    )
    .action(submit);
}

async function submit(folder: string, options: SubmitOptions): Promise<void> {
  const [{ loadTasks }, { openQueue, submitEvaluation }, { operatorByName }, { publishedScorers }] =
    await Promise.all([
      import("../../env/index.js"),
      import("../../rollout/queue/index.js"),
      import("../../operator/index.js"),
      import("../../suites/index.js"),
    ]);
  const operator = operatorByName(options.operator).name;
  const { tasks, digest } = await loadTasks(folder, { scorers: publishedScorers });
  const queue = await openQueue(options.queue);
  try {
    const { replicas, seed, priority, attempts } = options;
    const given = { tasks, digest, operator, replicas, seed, priority, attempts };
    const run = await submitEvaluation(queue, { ...given, run: options.run });
    if (options.json === true) printJson({ run, jobs: tasks.length * replicas });
    else process.stdout.write(`${run}\n`);
  } finally {
    await queue.close();
  }
}
