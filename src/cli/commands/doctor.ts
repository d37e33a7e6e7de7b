import type { Command } from "commander";
import { doctorFacts } from "../../sandbox/doctor.js";
import { exitCodes } from "../exit-codes.js";

export function define(command: Command): void {
  command
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken doctor\n\nExit codes: 0 nothing is missing, 3 something is.")
    .action(doctor);
}

async function doctor(options: { json?: boolean }): Promise<void> {
  const facts = await doctorFacts();
  const ok = facts.every(({ state }) => state !== "missing");
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ facts, ok })}\n`);
  } else {
    for (const { name, state, detail, advice } of facts) {
      process.stdout.write(`${state.padEnd(8)} ${name}: ${detail}\n`);
      if (advice !== undefined && state !== "ok") process.stdout.write(`         ${advice}\n`);
    }
  }
  if (!ok) process.exitCode = exitCodes.infrastructure;
}
