import type { Command } from "commander";
import { ShinkenError } from "../../errors/index.js";
import { integer } from "../options.js";

interface ShowOptions {
  step?: number;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<file>", "a bundle (.skn)")
    .option("--step <n>", "only this step, and nothing of it is cut; 0 is what the reset gave", integer(0))
    .option("--json", "print one JSON object; its shape is in docs/replay.md")
    .addHelpText(
      "after",
      "\nActions, observations (cut), rewards and their sum, milestones, what edits changed in files, and the checks of each verdict. Control characters are written out. Colours on a terminal, unless NO_COLOR is set.\n\nExamples:\n  shinken replay show episode.skn\n  shinken replay show episode.skn --step 3\n  shinken replay show episode.skn --json | jq .totals\n\nExit codes: 0 shown, 2 usage, no such step or no bundle that can be read.",
    )
    .action(show);
}

async function show(file: string, options: ShowOptions): Promise<void> {
  const [{ bundleFiles }, { showEpisode, printableJson }, { renderEpisode }] = await Promise.all([
    import("../../replay/files.js"),
    import("../../replay/show/index.js"),
    import("../replay-text.js"),
  ]);
  const [path, ...more] = await bundleFiles([file]);
  if (path === undefined || more.length > 0)
    throw new ShinkenError("bad_request", `${file} is a folder of many bundles; name one`, {
      path: file,
      suggestion: `shinken replay list ${file}`,
    });
  const episode = await showEpisode(path);
  const { step } = options;
  if (step !== undefined && ![episode.start, ...episode.steps].some((one) => one.step === step))
    throw new ShinkenError("bad_request", `${path} has no step ${step}`, { path: "--step" });
  if (options.json === true) {
    const shown =
      step === undefined ? episode : { ...episode, steps: episode.steps.filter((one) => one.step === step) };
    process.stdout.write(`${printableJson(shown)}\n`);
    return;
  }
  const colour = process.stdout.isTTY && (process.env["NO_COLOR"] ?? "") === "";
  process.stdout.write(renderEpisode(episode, { colour, step }));
}
