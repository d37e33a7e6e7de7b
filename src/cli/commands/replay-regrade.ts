import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { RegradedEpisode } from "../../rollout/replays/index.js";
import type { RunStore } from "../../rollout/store/index.js";
import { openBackend } from "../backend.js";
import { exitCodes } from "../exit-codes.js";
import { printJson } from "../json.js";
import { integer } from "../options.js";
import { Stage } from "../progress.js";
import { version } from "../version.js";

interface RegradeOptions {
  verifier: string;
  tasks?: string;
  store?: string;
  concurrency: number;
  again?: boolean;
  rerun?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<files...>", "bundles, or folders with bundles in them")
    .requiredOption("--verifier <dir>", "folder of tasks whose verifiers grade")
    .option("--tasks <dir>", "folder of the tasks as they were played, if their setup has changed since")
    .option(
      "--store <file>",
      "run store that the verdicts are added to (default: runs.db in the state folder)",
    )
    .option("--concurrency <n>", "episodes at a time", integer(1, 256), availableParallelism() * 2)
    .option("--again", "also what this verifier and this version of shinken have graded before")
    .option("--rerun", "run again also what was recorded with the machine in which it ended")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nEach episode is run again from its bundle, without agent or model; where its states equal the recorded ones, the verifier grades the last. A run that was interrupted goes on where it stopped.\n\nExample:\n  shinken replay regrade runs/ --verifier tasks/demo\n\nExit codes: 0 every episode was graded, 1 some were not, 2 a file or an option is wrong, 3 no machine can be made.",
    )
    .action(regradeFiles);
}

async function regradeFiles(paths: string[], options: RegradeOptions): Promise<void> {
  const { bundleFiles } = await import("../../replay/index.js");
  const { openRunStore } = await import("../../rollout/store/index.js");
  const files = await bundleFiles(paths);
  const store = openRunStore(options.store);
  try {
    await regradeInto(store, files, options);
  } finally {
    store.close();
  }
}

async function regradeInto(
  store: RunStore,
  files: readonly string[],
  options: RegradeOptions,
): Promise<void> {
  const { regrade } = await import("../../rollout/replays/index.js");
  const { loadTasks } = await import("../../env/index.js");
  const { publishedScorers: scorers } = await import("../../suites/index.js");
  const known = options.again === true ? new Set<string>() : store.gradingKeys();
  const backend = await openBackend({ tasks: options.verifier });
  const verifier = backend.tasks?.tasks ?? [];
  const played = options.tasks === undefined ? verifier : (await loadTasks(options.tasks, { scorers })).tasks;
  const stage = new Stage("replay: regrade");
  const began = performance.now();
  try {
    const episodes = await regrade({
      files,
      played,
      graders: [verifier],
      provider: backend.provider,
      judge: backend.judge,
      concurrency: options.concurrency,
      runtime: `shinken-gym/${version()}`,
      known,
      rerun: options.rerun === true,
      onEpisode(episode, done, all) {
        for (const line of episode.lines) store.addGrading({ ...line, file: resolve(line.file) });
        stage.update(done, all, `${episode.task ?? episode.file} ${wordOf(episode)}`);
      },
    });
    stage.end();
    report(episodes, {
      store: store.path,
      seconds: (performance.now() - began) / 1_000,
      json: options.json === true,
    });
  } finally {
    await backend.close();
  }
}

function report(
  episodes: readonly RegradedEpisode[],
  { store, seconds, json }: { store: string; seconds: number; json: boolean },
): void {
  const counts = { passed: 0, failed: 0, ungraded: 0, skipped: 0, unreadable: 0 };
  for (const episode of episodes) counts[wordOf(episode)] += 1;
  const unreadable = episodes.flatMap(({ file, error }) =>
    error === null ? [] : [{ file, code: error.code, message: error.message }],
  );
  const reasons = episodes.flatMap(({ file, lines }) =>
    lines.flatMap(({ verdict }) =>
      verdict.status === "graded" ? [] : [{ file, reason: verdict.reason ?? "" }],
    ),
  );
  if (json)
    printJson({
      episodes: episodes.length,
      ...counts,
      seconds,
      store,
      ungraded_reasons: reasons,
      unreadable_files: unreadable,
    });
  else {
    const rate = seconds > 0 ? ((episodes.length - counts.skipped) / seconds) * 60 : 0;
    process.stdout.write(
      `${episodes.length} episodes: ${counts.passed} passed, ${counts.failed} failed, ${counts.ungraded} ungraded, ${counts.skipped} graded before, ${counts.unreadable} unreadable\n${rate.toFixed(0)} episodes a minute; verdicts in ${store}\n`,
    );
    for (const { file, reason } of reasons) process.stdout.write(`  ${file}: ${reason}\n`);
    for (const { file, message } of unreadable) process.stdout.write(`  ${file}: ${message}\n`);
  }
  if (counts.ungraded + counts.unreadable > 0) process.exitCode = exitCodes.failed;
}

function wordOf({
  lines,
  skipped,
  error,
}: RegradedEpisode): "passed" | "failed" | "ungraded" | "skipped" | "unreadable" {
  if (error !== null) return "unreadable";
  if (skipped) return "skipped";
  if (lines.some(({ verdict }) => verdict.status === "ungraded")) return "ungraded";
  return lines.every(({ verdict }) => verdict.passed === true) ? "passed" : "failed";
}
