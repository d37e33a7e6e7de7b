import type { Command } from "commander";
import { openBackend } from "../backend.js";
import { exitCodes } from "../exit-codes.js";
import { integer } from "../options.js";
import { Stage } from "../progress.js";

interface CheckOptions {
  variants?: number;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<dir>", "folder of tasks, or of one task")
    .option("--variants <n>", "variants to try of a task with parameters", integer(1, 100))
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nGates: the oracle scores 1; doing nothing, giving up (but where a task is to be refused) and claiming to be done score 0; every check can fail; order does not matter.\n\nExample:\n  shinken task check tasks/demo\n\nExit codes: 0 all tasks pass, 1 one does not, 2 a task file is wrong, 3 no machine can be made.",
    )
    .action(check);
}

async function check(folder: string, options: CheckOptions): Promise<void> {
  const { checkTasks, renderCheck } = await import("../../rollout/index.js");
  const backend = await openBackend({ tasks: folder });
  try {
    const stage = new Stage("task check");
    const report = await checkTasks({
      tasks: backend.tasks?.tasks ?? [],
      provider: backend.provider,
      judge: backend.judge,
      ...(options.variants === undefined ? {} : { variants: options.variants }),
      onTask: (finding, done, all) => {
        stage.update(done, all, `${finding.id} ${finding.ok ? "ok" : "NOT OK"}`);
      },
    });
    stage.end();
    process.stdout.write(options.json === true ? `${JSON.stringify(report)}\n` : renderCheck(report));
    if (!report.ok) process.exitCode = exitCodes.failed;
  } finally {
    await backend.close();
  }
}
