import { existsSync, writeFileSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { ShinkenError } from "../../errors/index.js";
import type { EpisodeOutcome, EvaluationReport, SelectionRule } from "../../rollout/index.js";
import { noBook, openBook } from "../eval-book.js";
import { EvalProgress } from "../eval-progress.js";
import { exitCodes } from "../exit-codes.js";
import { interruptible } from "../interrupt.js";
import { outside, printJson } from "../json.js";
import { modelOptions, operatorWords, type OperatorChoice, resolveOperator } from "../operator.js";
import { integer, repeated, seconds } from "../options.js";
import { version } from "../version.js";

interface EvalOptions extends OperatorChoice {
  operator: string;
  replicas: number;
  untilWidth?: number;
  replicasMost: number;
  seed: number;
  concurrency?: number;
  initPool?: number;
  verifyPool?: number;
  setupBudget?: number;
  agentBudget?: number;
  graderBudget?: number;
  retries: number;
  bestOf?: number;
  select: SelectionRule;
  bestFrom: number;
  url?: string;
  record?: string;
  recordStates?: boolean;
  store: string | boolean;
  resume?: string;
  report?: string[];
  json?: boolean;
}

export function define(command: Command): void {
  modelOptions(command)
    .argument("<dir>", "folder of tasks")
    .option("--operator <name>", `who plays: ${operatorWords}`, "oracle")
    .option("--replicas <k>", "episodes of each task", integer(1, 10_000), 5)
    .option("--until-width <w>", "more replicas of a task until its 95 % interval is so wide at most", width)
    .option("--replicas-most <n>", "replicas of a task at most, with --until-width", integer(1, 100_000), 100)
    .option("--seed <n>", "run seed: the same seed, the same parameters and machines", integer(0), 0)
    .option("--concurrency <n>", "pool RUN: episodes that are played at a time", integer(1, 1024))
    .option("--init-pool <n>", "pool INIT: machines that are made at a time (half of it)", integer(1, 1024))
    .option("--verify-pool <n>", "pool VERIFY: episodes graded at a time (half of it)", integer(1, 1024))
    .option("--setup-budget <s>", "seconds for making a machine (the task's limit and a minute)", seconds)
    .option("--agent-budget <s>", "seconds of play, waiting not counted (the task's limit)", seconds)
    .option("--grader-budget <s>", "seconds for grading (the task's limit and a minute)", seconds)
    .option("--retries <n>", "fresh machines after a failure of the harness", integer(0, 100), 1)
    .option(
      "--best-of <n>",
      "each replica is the best of so many tries; that is not pass@1",
      integer(2, 1000),
    )
    .addOption(
      new Option(
        "--select <rule>",
        "how the best is chosen: by the graders, by milestones, or who is done first",
      )
        .choices(["score", "reward", "done"])
        .default("score"),
    )
    .option("--best-from <step>", "the tries are forks after this step of one episode", integer(0), 0)
    .option(
      "--url <ws://...>",
      "a server that has the same tasks, instead of one of our own; its token in SHINKEN_TOKEN",
    )
    .option("--record <dir>", "folder for the bundles of all episodes, one each (.skn)")
    .option(
      "--record-states",
      "keep the machines in which they end, too, so that grading again need not run them",
    )
    .addOption(
      new Option("--store <file>", "run store that the run is kept in").default(
        true,
        "runs.db in the state folder",
      ),
    )
    .option("--no-store", "keep it nowhere")
    .option("--resume <run>", "go on with a run that was interrupted; the rest of the command as it was")
    .option(
      "--report <file>",
      "write the report: .md (with the intervals as .svg beside it) or .json",
      repeated,
    )
    .option("--json", "print the report as one JSON object")
    .addHelpText(
      "after",
      "\nExamples:\n  shinken eval tasks/demo --operator oracle --replicas 5\n  shinken eval tasks/demo --until-width 0.3 --report card.md\n  shinken eval tasks/demo --resume 3f2a91c0\n\nCtrl-C stops what plays, in the guests too, and keeps what is done; --resume plays the rest.\n\nExit codes: 0 every episode was graded, 1 some were not, 2 usage or a wrong task, 3 no server or no machine, 130 interrupted.",
    )
    .action(evaluate);
}

async function evaluate(folder: string, options: EvalOptions): Promise<void> {
  const [
    { loadTasks },
    { evaluateTaskSet, renderScorecard, runLock, storedEpisodes, subSeed },
    { connect },
    { startServerProcess },
    { publishedScorers: scorers },
    { loadPrices },
    { checkServerTasks },
  ] = await Promise.all([
    import("../../env/index.js"),
    import("../../rollout/index.js"),
    import("../../client/index.js"),
    import("../server-process.js"),
    import("../../suites/index.js"),
    import("../../rollout/efficiency/index.js"),
    import("../server-tasks.js"),
  ]);
  checkOptions(options);
  const operator = await resolveOperator(options);
  const set = await loadTasks(folder, { scorers });
  const budgets = given({
    setup: options.setupBudget,
    agent: options.agentBudget,
    grader: options.graderBudget,
  });
  const bestOf =
    options.bestOf === undefined
      ? undefined
      : { n: options.bestOf, rule: options.select, fromStep: options.bestFrom };
  const { tasks, digest } = set;
  const { seed, replicas, untilWidth } = options;
  const lock = runLock({
    ...{ tasks, digest, operator, seed, replicas, bestOf, budgets, untilWidth },
    runtime: `shinken-gym/${version()}`,
  });
  const book =
    options.store === false
      ? noBook
      : await openBook(lock, {
          store: typeof options.store === "string" ? options.store : undefined,
          resume: options.resume,
        });
  const variants = new Map(
    tasks.map((task) => [task.id, { task, variant: task.variant({ seed: subSeed(seed, task.id) }) }]),
  );
  const keep = (outcome: EpisodeOutcome) => {
    const { task, variant } = variants.get(outcome.task) ?? {};
    if (task !== undefined && variant !== undefined)
      book.add(storedEpisodes(outcome, variant, task.verifierVersion));
  };
  const progress = new EvalProgress(`eval: ${operator.name}`);
  const interrupt = interruptible();
  let ended: "finished" | "interrupted" | "failed" = "failed";
  let server: Awaited<ReturnType<typeof startServerProcess>> | undefined;
  try {
    server = options.url === undefined ? await startServerProcess(folder, options) : undefined;
    const url = server?.url ?? options.url ?? "";
    const report = await evaluateTaskSet({
      ...{ tasks, digest, operator, replicas, seed, bestOf },
      ...{ run: book.run, before: book.before, signal: interrupt.signal },
      prices: operator.model === undefined ? undefined : await loadPrices(),
      until: untilWidth === undefined ? undefined : { width: untilWidth, most: options.replicasMost },
      pipeline: {
        pools: given({ init: options.initPool, run: options.concurrency, verify: options.verifyPool }),
        budgets,
        retries: options.retries,
      },
      connect: async () => {
        // Our own server, a child on loopback, inherits the token and wants it, too.
        const client = await connect(url, { token: process.env["SHINKEN_TOKEN"] || undefined });
        if (options.url === undefined) return client;
        return checkServerTasks(client, tasks).then(
          () => client,
          async (error: unknown) => {
            await client.close();
            throw error;
          },
        );
      },
      onStart: (metrics) => progress.start(metrics, replicas * tasks.length),
      onEpisode: (outcome, done, all) => {
        keep(outcome);
        progress.update(done, all, `${outcome.task} ${outcome.score ?? outcome.status}`);
      },
    });
    progress.end();
    ended = interrupt.signal.aborted ? "interrupted" : "finished";
    if (options.json === true) printJson(report);
    else process.stdout.write(renderScorecard(report));
    for (const file of options.report ?? []) await writeReport(file, report);
    if (report.total.ungraded > 0) process.exitCode = exitCodes.failed;
    if (ended === "interrupted") tellOfInterruption(report, book.run);
  } finally {
    progress.end();
    interrupt.end();
    try {
      book.end(ended);
    } finally {
      book.close();
      await server?.stop();
    }
  }
}

function checkOptions({ url, record, store, resume, report = [] }: EvalOptions): void {
  if (url !== undefined && record !== undefined)
    throw new ShinkenError(
      "bad_request",
      "--record is for a server of our own: one at --url records where it was told to",
      {
        path: "--record",
      },
    );
  if (store === false && resume !== undefined)
    throw new ShinkenError("bad_request", "--resume needs the store that the run is kept in", {
      path: "--resume",
      suggestion: "leave --no-store out",
    });
  for (const file of report) {
    if (extname(file) !== ".md" && extname(file) !== ".json")
      throw new ShinkenError("bad_request", `--report ${file}: reports are Markdown or JSON`, {
        path: "--report",
        suggestion: "name a file that ends in .md or .json",
      });
    if (!existsSync(dirname(file)))
      throw new ShinkenError("bad_request", `--report ${file}: there is no folder ${dirname(file)}`, {
        path: "--report",
        suggestion: "make it first",
      });
  }
}

async function writeReport(file: string, report: EvaluationReport): Promise<void> {
  if (extname(file) === ".json") {
    writeFileSync(file, `${JSON.stringify(outside(report), null, 2)}\n`);
    return;
  }
  const [{ renderMarkdown }, { intervalsSvg }] = await Promise.all([
    import("../../rollout/index.js"),
    import("../../rollout/intervals-svg.js"),
  ]);
  const picture = `${file.slice(0, -extname(file).length)}.svg`;
  writeFileSync(picture, intervalsSvg(report));
  writeFileSync(file, renderMarkdown(report, basename(picture)));
}

function tellOfInterruption(report: EvaluationReport, run: string | undefined): void {
  const played = report.total.n + report.total.ungraded;
  const rest = run === undefined ? "" : `; the same command with --resume ${run.slice(0, 8)} plays the rest`;
  process.stderr.write(`interrupted: ${played} replicas are done${rest}\n`);
  process.exitCode = exitCodes.interrupted;
}

/** What was said, without what was not. */
function given<Fields extends Record<string, number | undefined>>(fields: Fields) {
  const said = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said) as { [Name in keyof Fields]?: number };
}

function width(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value <= 0 || value >= 1)
    throw new InvalidArgumentError("must be a number above 0 and below 1.");
  return value;
}
