import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { ShinkenError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";
import {
  evaluateRun,
  parseHar,
  parseTasks,
  type Profile,
  profiles,
  type RunVerdict,
  type SiteName,
  siteNames,
  type SiteUrls,
  type WebArenaVerifiedTask,
} from "../../suites/index.js";
import { exitCodes } from "../exit-codes.js";
import { readJson, readText } from "./verifier-files.js";

interface WebArenaOptions {
  run?: string;
  site: SiteUrls;
  profile: Profile;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("<tasks>", "WebArena-Verified's task file")
    .option("--run <dir>", "a run, or a folder of runs; each is a folder named by its task's number")
    .option(
      "--site <name=url>",
      "where a site stood, once for each address (default: guessed from the trace)",
      site,
      {},
    )
    .addOption(
      new Option("--profile <name>", "which reading of the evaluators").choices(profiles).default("faithful"),
    )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nA run holds agent_response.json and network.har. Without --run the tasks are only loaded.\n\nExample:\n  shinken verifier webarena webarena-verified.json --run demo/108 --site shopping_admin=http://localhost:7780/admin\n\nExit codes: 0 all runs succeed, 1 one does not or is not graded, 2 a file is wrong.",
    )
    .action(webarena);
}

function site(text: string, before: SiteUrls): SiteUrls {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at)) as SiteName;
  const url = text.slice(at + 1);
  if (!siteNames.includes(name)) {
    const meant = nearest(name, siteNames);
    throw new InvalidArgumentError(
      `must be NAME=URL; ${meant === undefined ? `sites are ${siteNames.join(", ")}` : `did you mean ${meant}`}.`,
    );
  }
  if (!URL.canParse(url)) throw new InvalidArgumentError("must be NAME=URL, with a whole address.");
  return { ...before, [name]: [...(before[name] ?? []), url] };
}

async function webarena(file: string, options: WebArenaOptions): Promise<void> {
  const tasks = parseTasks(await readJson(file, "name WebArena-Verified's task file"));
  const verdicts: RunVerdict[] = [];
  for (const folder of options.run === undefined ? [] : await runsIn(options.run)) {
    verdicts.push(await grade(folder, tasks, options));
  }
  process.stdout.write(
    options.json === true
      ? `${JSON.stringify(outside(tasks.size, verdicts))}\n`
      : render(tasks.size, verdicts),
  );
  if (verdicts.some(({ status }) => status !== "success")) process.exitCode = exitCodes.failed;
}

const number = /^(\d+)$/;
const idOf = (folder: string): string =>
  folder
    .replace(/[/\\]+$/, "")
    .split(/[/\\]/)
    .at(-1) ?? "";

/** The folder itself, if its name is a task's number, or those in it whose names are. */
async function runsIn(folder: string): Promise<string[]> {
  if (number.test(idOf(folder))) return [folder];
  const names = await readdir(folder).catch((error: unknown) => {
    const { code = "unreadable" } = error as NodeJS.ErrnoException;
    throw new ShinkenError("bad_request", `${folder}: ${code}`, {
      path: folder,
      suggestion: "name a folder that can be read",
    });
  });
  const runs = names.filter((name) => number.test(name)).sort((a, b) => Number(a) - Number(b));
  if (runs.length > 0) return runs.map((name) => join(folder, name));
  throw new ShinkenError("bad_request", `${folder}: there is no run in it`, {
    path: folder,
    suggestion: "a run is a folder named by its task's number",
  });
}

async function grade(
  folder: string,
  tasks: ReadonlyMap<number, WebArenaVerifiedTask>,
  options: WebArenaOptions,
): Promise<RunVerdict> {
  const task = tasks.get(Number(idOf(folder)));
  if (task === undefined) {
    throw new ShinkenError("unknown_task", `${folder}: there is no task ${idOf(folder)}`, {
      path: folder,
      suggestion: "a run is a folder named by its task's number",
    });
  }
  const suggestion = "a run holds agent_response.json and network.har";
  const response = await readText(join(folder, "agent_response.json"), suggestion);
  const events = parseHar(await readJson(join(folder, "network.har"), suggestion));
  return evaluateRun(task, { response, events }, { sites: options.site, profile: options.profile });
}

/** Names as on the wire; values keep theirs. */
function outside(tasks: number, verdicts: readonly RunVerdict[]): unknown {
  return {
    tasks,
    runs: verdicts.map(({ taskId, revision, status, score, evaluators, guessedSites }) => ({
      task_id: taskId,
      revision,
      status,
      score,
      evaluators,
      guessed_sites: guessedSites,
    })),
  };
}

function render(tasks: number, verdicts: readonly RunVerdict[]): string {
  let text = `${tasks} tasks\n`;
  for (const { taskId, status, evaluators, guessedSites } of verdicts) {
    const guess = guessedSites.length === 0 ? "" : `  (guessed where ${guessedSites.join(", ")} stood)`;
    text += `${String(taskId).padStart(4)}  ${status}${guess}\n`;
    for (const { evaluator, status: own, assertions, error } of evaluators) {
      text += `      ${evaluator}: ${own}\n`;
      if (error !== undefined) text += `        ${error}\n`;
      for (const { name, message } of assertions) text += `        ${name}: ${message}\n`;
    }
  }
  return text;
}
