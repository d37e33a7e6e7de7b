import { once } from "node:events";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { BranchSource } from "../../env/environment.js";
import { ShinkenError } from "../../errors/index.js";
import type { Bundle } from "../../replay/index.js";
import type { MemoryKind } from "../../sandbox/microvm/addon.js";
import { openBackend } from "../backend.js";
import { exitCodes } from "../exit-codes.js";
import { printJson } from "../json.js";
import { modelOptions, operatorWords, type OperatorChoice, resolveOperator } from "../operator.js";
import { integer, memoryKind } from "../options.js";
import { Stage } from "../progress.js";
import { openRecorder } from "../recording.js";
import { startServerProcess } from "../server-process.js";

interface BranchOptions extends OperatorChoice {
  at: number;
  serve?: number;
  tasks?: string;
  record?: string;
  effects: NonNullable<BranchSource["effects"]>;
  memory?: MemoryKind;
  json?: boolean;
}

export function define(command: Command): void {
  modelOptions(command)
    .argument("<file>", "bundle of the episode")
    .requiredOption("--at <step>", "go on from the state after this step; 0: after the reset", integer(0))
    .option("--tasks <dir>", "folder of tasks that the episode was played with")
    .option("--operator <name>", `who goes on: ${operatorWords}`)
    .option(
      "--serve <port>",
      "open the session on a server of our own, for whoever attaches",
      integer(0, 65_535),
    )
    .option("--record <dir>", "folder for the branch's bundle (default: that of the bundle)")
    .addOption(
      new Option("--effects <policy>", "what becomes of what would leave the machine from there on")
        .choices(["refuse", "mock"])
        .default("refuse"),
    )
    .option("--memory <kind>", "guest memory: soft (default) or uffd", memoryKind)
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nThe episode is run again up to the step and every state on the way compared. A script that would have done the same so far goes on from there; any other begins anew in the state that it finds. A model goes on with the recorded messages, where they are its scaffold's.\n\nExamples:\n  shinken replay branch runs/sort-scans/20261201T120000-....skn --at 2 --tasks tasks/demo --operator oracle\n  shinken replay branch episode.skn --at 2 --tasks tasks/demo --serve 8080\n\nExit codes: 0 the branch was graded, or the server was ended, 1 it was not graded, 2 usage, or the episode cannot be run again, 3 no machine can be made.",
    )
    .action(branch);
}

async function branch(file: string, options: BranchOptions): Promise<void> {
  if ((options.operator === undefined) === (options.serve === undefined))
    throw new ShinkenError("bad_request", "give one of --operator and --serve", { path: "--operator" });
  const { readBundle } = await import("../../replay/index.js");
  const bundle = await readBundle(resolve(file));
  if (options.serve === undefined) await play(bundle, options);
  else await serve(bundle, options.serve, options);
}

async function play(bundle: Bundle, options: BranchOptions): Promise<void> {
  const [{ outcomeOf, playOn }, { playerFrom }] = await Promise.all([
    import("../../rollout/index.js"),
    import("../../rollout/replays/index.js"),
  ]);
  const operator = await resolveOperator(options);
  const backend = await openBackend({ tasks: options.tasks, memory: options.memory });
  const folder = await folderFor(bundle, options);
  const recorder = await openRecorder(folder, []);
  const stage = new Stage("replay branch");
  try {
    const task = backend.tasks?.tasks.find(({ id }) => id === bundle.session.task);
    if (task === undefined)
      throw new ShinkenError("unknown_task", `there is no task "${bundle.session.task}"`, {
        path: "--tasks",
        suggestion: "give the folder of tasks that it was played with",
      });
    const variant = task.variant({ params: bundle.session.params });
    const { environment, before } = await (recorder as NonNullable<typeof recorder>)
      .factory(backend)
      .continue(
        bundle,
        {
          step: options.at,
          effects: options.effects,
          onStep: (step, last) => stage.update(step, last, `step ${step} again`),
        },
        { labels: { operator: operator.name } },
      );
    const outcome = outcomeOf(task.id, 0, bundle.session.seed ?? 0);
    const { episode, file } = environment.bundle ?? { episode: null, file: null };
    try {
      const player = await playerFrom(operator, variant, bundle, before);
      const observation = await environment.observe();
      await playOn(environment, player, { observation, info: {} }, outcome);
    } finally {
      await environment.close();
    }
    stage.end();
    const { status, score, passed, reason, steps, reward, milestones } = outcome;
    const parent = { episode: bundle.session.episode, step: options.at };
    const told = {
      task: task.id,
      episode,
      file,
      parent,
      steps,
      reward,
      milestones,
      status,
      score,
      passed,
      reason,
    };
    if (options.json === true) printJson(told);
    else
      process.stdout.write(
        `${task.id}: ${steps} steps after step ${options.at}, reward ${reward}, ${score ?? `ungraded: ${reason}`}\n${join(folder, file ?? "")}\n`,
      );
    if (status === "ungraded") process.exitCode = exitCodes.failed;
  } finally {
    await recorder?.close();
    await backend.close();
  }
}

async function serve(bundle: Bundle, port: number, options: BranchOptions): Promise<void> {
  const [{ connect }, folder] = await Promise.all([
    import("../../client/index.js"),
    folderFor(bundle, options),
  ]);
  if (options.record !== undefined)
    throw new ShinkenError(
      "bad_request",
      "--record: a server branches from the folder that it records into",
      {
        path: "--record",
      },
    );
  const { tasks, memory, at: step, effects } = options;
  const server = await startServerProcess(tasks, { record: folder, port, memory });
  try {
    // Our own server, a child on loopback, inherits the token and wants it, too.
    const client = await connect(server.url, { token: process.env["SHINKEN_TOKEN"] || undefined });
    const from = { bundle: bundle.session.episode, step, effects };
    const { name: session, token, next, episode } = await client.create({ from });
    if (options.json === true) printJson({ url: server.url, session, token, next, episode });
    else
      process.stdout.write(
        `session ${session} with token ${token} waits at ${server.url} for step ${next}\nattach to it; SIGINT or SIGTERM ends the server\n`,
      );
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    await client.close();
  } finally {
    await server.stop();
  }
}

async function folderFor(bundle: Bundle, { record }: BranchOptions): Promise<string> {
  const { folderOf } = await import("../../replay/read/reader.js");
  return resolve(record ?? folderOf(bundle.file));
}
