import type { Command } from "commander";
import type { Recovery } from "../../replay/index.js";
import { exitCodes } from "../exit-codes.js";
import { Quit } from "../failure.js";
import { printJson } from "../json.js";

/** What calls for somebody's attention. */
const bad = new Set<Recovery["status"]>(["salvaged", "refused"]);

export function define(command: Command): void {
  command
    .argument("<path>", "a bundle, or a folder of them")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nFinishes bundles whose writer was killed, in place; never touches one that a living process writes. Of a damaged one the part before the first damage is kept, and the file as it was beside it.\n\nExample:\n  shinken replay recover ~/.local/state/shinken/replays\n\nExit codes: 0 all are whole now or being written, 1 some were damaged or are no bundles, 2 usage, 3 a file cannot be read or written.",
    )
    .action(run);
}

async function run(path: string, options: { json?: boolean }): Promise<void> {
  const { recover } = await import("../../replay/index.js");
  const files = await recover(path);
  const ok = !files.some(({ status }) => bad.has(status));
  if (options.json === true) printJson({ files, ok });
  else for (const each of files) process.stdout.write(`${line(each)}\n`);
  if (!ok) throw new Quit(exitCodes.failed);
}

function line({ file, status, damage, kept, reason, lost_bytes }: Recovery): string {
  const more = [
    damage === null ? null : `byte ${damage.at}: ${damage.what}`,
    reason,
    lost_bytes === 0 ? null : `${lost_bytes} bytes left out`,
    kept === null ? null : `as it was: ${kept}`,
  ].filter((text) => text !== null);
  return `${status.padEnd(9)} ${file}${more.length === 0 ? "" : ` (${more.join("; ")})`}`;
}
