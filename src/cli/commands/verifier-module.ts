import type { Command } from "commander";
import { exitCodes } from "../exit-codes.js";
import { printJson } from "../json.js";

interface ModuleCommandOptions {
  record?: boolean;
  recorded?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("[dir...]", "folders of modules; all that ship with shinken if none is named")
    .option("--recorded", "ask what a guest answered before instead of a machine")
    .option("--record", "keep what the guest answers in the module's folder")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken verifier module modules/git\n\nExit codes: 0 all tests pass, 1 one does not, 2 a folder is no module, 3 no machine can be made.",
    )
    .action(run);
}

async function run(folders: string[], options: ModuleCommandOptions): Promise<void> {
  const { testModule } = await import("../../rollout/index.js");
  const { moduleNames, modulesFolder } = await import("../../verifiers/index.js");
  const chosen = folders.length > 0 ? folders : moduleNames().map((name) => `${modulesFolder}${name}`);
  const { openBackend } = await import("../backend.js");
  const backend = options.recorded === true ? null : await openBackend({});
  try {
    const reports = [];
    for (const folder of chosen) {
      const report = await testModule(folder, {
        provider: backend?.provider ?? null,
        record: options.record === true,
      });
      reports.push(report);
      if (options.json === true) continue;
      const passed = report.cases.filter(({ ok }) => ok).length;
      process.stdout.write(
        `${`${report.name} ${report.version}`.padEnd(20)} ${passed} of ${report.cases.length} cases (${report.from})\n`,
      );
      for (const { test, ask, ok, why } of report.cases)
        if (!ok) process.stdout.write(`  ${test}: ${ask}: ${why}\n`);
    }
    const ok = reports.every((report) => report.ok);
    if (options.json === true) printJson({ modules: reports, ok });
    if (!ok) process.exitCode = exitCodes.failed;
  } finally {
    await backend?.close();
  }
}
