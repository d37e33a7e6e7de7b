import type { Command } from "commander";
import { ShinkenError } from "../../errors/index.js";
import { modelOptions, operatorWords, type OperatorChoice, resolveOperator } from "../operator.js";
import { integer } from "../options.js";
import { Stage } from "../progress.js";
import { printJson } from "../json.js";

interface EvalOptions extends OperatorChoice {
  operator: string;
  replicas: number;
  seed: number;
  concurrency?: number;
  url?: string;
  record?: string;
  recordStates?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  modelOptions(command)
    .argument("<dir>", "folder of tasks")
    .option("--operator <name>", `who plays: ${operatorWords}`, "oracle")
    .option("--replicas <k>", "episodes of each task", integer(1, 10_000), 5)
    .option("--seed <n>", "run seed: the same seed, the same parameters and machines", integer(0), 0)
    .option("--concurrency <n>", "episodes at a time", integer(1, 1024))
    .option(
      "--url <ws://...>",
      "a server that has the same tasks, instead of one of our own; its token in SHINKEN_TOKEN",
    )
    .option("--record <dir>", "folder for the bundles of all episodes, one each (.skn)")
    .option(
      "--record-states",
      "keep the machines in which they end, too, so that grading again need not run them",
    )
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  shinken eval tasks/demo --operator oracle --replicas 5\n\nExit codes: 0 every episode was graded, 1 some were not, 2 usage or a wrong task, 3 no server or no machine.",
    )
    .action(evaluate);
}

async function evaluate(folder: string, options: EvalOptions): Promise<void> {
  const [
    { loadTasks },
    { evaluateTaskSet, renderScorecard },
    { connect },
    { startServerProcess },
    { publishedScorers: scorers },
  ] = await Promise.all([
    import("../../env/index.js"),
    import("../../rollout/index.js"),
    import("../../client/index.js"),
    import("../server-process.js"),
    import("../../suites/index.js"),
  ]);
  if (options.url !== undefined && options.record !== undefined)
    throw new ShinkenError(
      "bad_request",
      "--record is for a server of our own: one at --url records where it was told to",
      {
        path: "--record",
      },
    );
  const operator = await resolveOperator(options);
  const set = await loadTasks(folder, { scorers });
  const server = options.url === undefined ? await startServerProcess(folder, options) : undefined;
  const url = server?.url ?? options.url ?? "";
  try {
    const stage = new Stage(`eval: ${operator.name}`);
    const report = await evaluateTaskSet({
      tasks: set.tasks,
      digest: set.digest,
      operator,
      replicas: options.replicas,
      seed: options.seed,
      pipeline: { pools: options.concurrency === undefined ? {} : { run: options.concurrency } },
      // Our own server, a child on loopback, inherits the token and wants it, too.
      connect: () => connect(url, { token: process.env["SHINKEN_TOKEN"] || undefined }),
      onEpisode: (outcome, done, all) => {
        stage.update(done, all, `${outcome.task} ${outcome.score ?? outcome.status}`);
      },
    });
    stage.end();
    if (options.json === true) printJson(report);
    else process.stdout.write(renderScorecard(report));
    if (report.total.ungraded > 0) process.exitCode = 1;
  } finally {
    await server?.stop();
  }
}
