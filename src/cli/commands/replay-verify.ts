import { availableParallelism } from "node:os";
import type { Command } from "commander";
import type { Outcome, VerifiedFile } from "../../rollout/replays/index.js";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { openBackend } from "../backend.js";
import { exitCodes, otherMachine } from "../exit-codes.js";
import { integer, memoryKind } from "../options.js";
import { Stage } from "../progress.js";

interface VerifyOptions {
  tasks?: string;
  memory?: MemoryKind;
  concurrency: number;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<files...>", "bundles, or folders with bundles in them")
    .option("--tasks <dir>", "folder of tasks that the episodes were played with")
    .option("--memory <kind>", "guest memory: soft (default) or uffd; states do not depend on it", memoryKind)
    .option("--concurrency <n>", "episodes at a time", integer(1, 256), availableParallelism())
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nRuns each episode again from its golden, seed and actions, and compares the state of the machine, the observation and the reward after each step with the recorded ones.\n\nExamples:\n  shinken eval tasks/demo --record runs\n  shinken replay verify runs --tasks tasks/demo\n\nExit codes: 0 all are equal, 1 one differs, 2 usage, or a file is damaged or cannot be run again, 3 no machine can be made, 4 a file was recorded on machines of another ABI, or of another image of that name. Of several the lowest.",
    )
    .action(verify);
}

const codes: Record<Outcome, number> = {
  equal: exitCodes.ok,
  different: exitCodes.failed,
  unusable: exitCodes.usage,
  failed: exitCodes.infrastructure,
  other_machine: otherMachine,
};

async function verify(paths: string[], options: VerifyOptions): Promise<void> {
  const [{ bundleFiles }, { renderVerified, sessionOpener, verifyBundles }] = await Promise.all([
    import("../../replay/index.js"),
    import("../../rollout/replays/index.js"),
  ]);
  const files = await bundleFiles(paths);
  const backend = await openBackend({ tasks: options.tasks, memory: options.memory });
  const { provider, factory, judge, tasks } = backend;
  const opener = sessionOpener({ provider, factory, judge, tasks: tasks?.tasks ?? [] });
  const stage = new Stage("replay verify");
  try {
    const findings = await verifyBundles({
      files,
      open: opener.open,
      concurrency: options.concurrency,
      onFile: ({ task, outcome }, done, all) => stage.update(done, all, `${task ?? ""} ${outcome}`),
    });
    stage.end();
    process.stdout.write(
      options.json === true ? `${JSON.stringify(reportOf(findings))}\n` : renderVerified(findings),
    );
    const worst = findings.map(({ outcome }) => codes[outcome]).filter((code) => code !== exitCodes.ok);
    if (worst.length > 0) process.exitCode = Math.min(...worst);
  } finally {
    await backend.close();
  }
}

function reportOf(findings: readonly VerifiedFile[]): object {
  return {
    files: findings.map(({ file, outcome, steps, difference, error }) => ({
      file,
      equal: outcome === "equal",
      steps,
      first_difference: difference,
      ...(error === null ? {} : { error }),
    })),
    ok: findings.every(({ outcome }) => outcome === "equal"),
  };
}
