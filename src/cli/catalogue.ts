/** Every command, without its code: that is loaded only when it is the one that runs. */
import type { Command } from "commander";
import { exitCodes } from "./exit-codes.js";

/** What a command's module exports. */
export interface CommandModule {
  /** Adds arguments, options, help and action to a command whose name and summary are set. */
  define(command: Command): void;
}

export interface Entry {
  path: readonly [string] | readonly [string, string];
  summary: string;
  /** Exit code of a usage error, where the common one means something else. */
  usage?: number;
  load: () => Promise<CommandModule>;
}

export interface Group {
  summary: string;
  example: string;
  /** The command that is meant where none is named. */
  usual?: string;
}

/** Commands that only hold others. */
export const groups: Readonly<Record<string, Group>> = {
  image: { summary: "build and list guest images", example: "shinken image list" },
  golden: { summary: "look after the frozen machines in the cache", example: "shinken golden list" },
  queue: {
    summary: "hand evaluations to nodes, and fetch what they played",
    example: "shinken queue submit tasks/demo --queue sqlite:queue.db",
  },
  task: { summary: "check tasks before anybody plays them", example: "shinken task check tasks/demo" },
  verifier: {
    summary: "try graders against what is known of them",
    example: "shinken verifier vectors scoring-vectors.json",
  },
  replay: {
    summary: "work on recorded episodes: run again, grade again, branch, export, look",
    example: "shinken replay show episode.skn",
  },
  smolcua: {
    summary: "the text benchmark: grade answers",
    example: "shinken smolcua grade answers.jsonl",
  },
  runs: {
    summary: "look at runs that were kept, bring some in, and take them out",
    example: "shinken runs list",
    usual: "list",
  },
  machine: { summary: "run a program on the bare machine", example: "shinken machine run program.elf" },
  bench: { summary: "measure forks, the guest and the wire", example: "shinken bench wire --json" },
};

/** `run` gives its command's own exit code; like others of its kind it keeps 125 for itself. */
export const runFailed = 125;

export const catalogue: readonly Entry[] = [
  {
    path: ["run"],
    summary: "run a command in a fresh machine",
    usage: runFailed,
    load: () => import("./commands/run.js"),
  },
  {
    path: ["serve"],
    summary: "serve environments over WebSockets",
    load: () => import("./commands/serve.js"),
  },
  {
    path: ["eval"],
    summary: "play a task set and print a scorecard",
    load: () => import("./commands/eval.js"),
  },
  {
    path: ["stats"],
    summary: "work out pass rates, intervals and ICC from scores of replicas",
    load: () => import("./commands/stats.js"),
  },
  {
    path: ["worker"],
    summary: "play the jobs of a queue on machines of this host",
    load: () => import("./commands/worker.js"),
  },
  {
    path: ["queue", "submit"],
    summary: "queue the episodes of a task set",
    load: () => import("./commands/queue-submit.js"),
  },
  {
    path: ["queue", "status"],
    summary: "say what waits, what is played, and what is dead",
    load: () => import("./commands/queue-status.js"),
  },
  {
    path: ["queue", "collect"],
    summary: "wait for a run's episodes and print its scorecard",
    load: () => import("./commands/queue-collect.js"),
  },
  {
    path: ["demo"],
    summary: "the whole journey once: image, goldens, server, scorecard",
    load: () => import("./commands/demo.js"),
  },
  {
    path: ["image", "build"],
    summary: "build a guest image",
    load: () => import("./commands/image-build.js"),
  },
  { path: ["image", "list"], summary: "list guest images", load: () => import("./commands/image-list.js") },
  {
    path: ["golden", "list"],
    summary: "list goldens",
    load: () => import("./commands/golden-list.js"),
  },
  {
    path: ["golden", "show"],
    summary: "say what a golden holds",
    load: () => import("./commands/golden-show.js"),
  },
  {
    path: ["golden", "verify"],
    summary: "check goldens to the last page",
    load: () => import("./commands/golden-verify.js"),
  },
  {
    path: ["golden", "gc"],
    summary: "remove goldens that nobody can use, or that are too much",
    load: () => import("./commands/golden-gc.js"),
  },
  {
    path: ["task", "check"],
    summary: "run the gates on tasks",
    load: () => import("./commands/task-check.js"),
  },
  {
    path: ["task", "schema"],
    summary: "print the task format as JSON Schema, for editors",
    load: () => import("./commands/task-schema.js"),
  },
  {
    path: ["verifier", "vectors"],
    summary: "run inputs and outputs of published scorers",
    load: () => import("./commands/verifier-vectors.js"),
  },
  {
    path: ["verifier", "webarena"],
    summary: "grade runs of WebArena-Verified from their HAR files",
    load: () => import("./commands/verifier-webarena.js"),
  },
  {
    path: ["verifier", "module"],
    summary: "test what graders know of an application",
    load: () => import("./commands/verifier-module.js"),
  },
  {
    path: ["verifier", "agree"],
    summary: "hold verdicts against people's labels of end states",
    load: () => import("./commands/verifier-agree.js"),
  },
  {
    path: ["verifier", "diff"],
    summary: "list the verdicts that two versions of graders give otherwise",
    load: () => import("./commands/verifier-diff.js"),
  },
  {
    path: ["verifier", "triage"],
    summary: "order end states by how likely their grader is wrong",
    load: () => import("./commands/verifier-triage.js"),
  },
  {
    path: ["verifier", "schema"],
    summary: "print the format of labelled end states as JSON Schema",
    load: () => import("./commands/verifier-schema.js"),
  },
  {
    path: ["replay", "regrade"],
    summary: "grade recorded episodes with any version of their verifiers",
    load: () => import("./commands/replay-regrade.js"),
  },
  {
    path: ["replay", "recover"],
    summary: "finish bundles whose writer was killed",
    load: () => import("./commands/replay-recover.js"),
  },
  {
    path: ["replay", "check"],
    summary: "compare bundles with their hashes and checksums",
    load: () => import("./commands/replay-check.js"),
  },
  {
    path: ["replay", "list"],
    summary: "list recorded episodes",
    load: () => import("./commands/replay-list.js"),
  },
  {
    path: ["replay", "show"],
    summary: "show what happened in an episode",
    load: () => import("./commands/replay-show.js"),
  },
  {
    path: ["replay", "export"],
    summary: "make data sets for training out of episodes",
    load: () => import("./commands/replay-export.js"),
  },
  {
    path: ["replay", "branch"],
    summary: "go on from a step of a recorded episode with other actions",
    load: () => import("./commands/replay-branch.js"),
  },
  {
    path: ["replay", "verify"],
    summary: "run recorded episodes again and compare every step",
    load: () => import("./commands/replay-verify.js"),
  },
  { path: ["runs", "list"], summary: "list runs", load: () => import("./commands/runs-list.js") },
  {
    path: ["runs", "show"],
    summary: "show a run, task by task",
    load: () => import("./commands/runs-show.js"),
  },
  {
    path: ["runs", "import"],
    summary: "bring recorded episodes, or results that somebody tells, into the store",
    load: () => import("./commands/runs-import.js"),
  },
  {
    path: ["runs", "export"],
    summary: "write runs as Parquet or JSON lines",
    load: () => import("./commands/runs-export.js"),
  },
  {
    path: ["leaderboard"],
    summary: "order runs by their scores, and say where these come from",
    load: () => import("./commands/leaderboard.js"),
  },
  {
    path: ["compare"],
    summary: "hold a run against another, and fail where it is worse",
    load: () => import("./commands/compare.js"),
  },
  {
    path: ["machine", "run"],
    summary: "run an ELF file, flat binary or Linux Image",
    // 2 is the instruction limit there.
    usage: 64,
    load: () => import("./commands/machine-run.js"),
  },
  {
    path: ["bench", "bootstrap"],
    summary: "measure intervals of the bootstrap",
    load: () => import("./commands/bench-bootstrap.js"),
  },
  { path: ["bench", "fork"], summary: "measure forks", load: () => import("./commands/bench-fork.js") },
  {
    path: ["bench", "guest"],
    summary: "measure guest code",
    load: () => import("./commands/bench-guest.js"),
  },
  {
    path: ["bench", "machines"],
    summary: "measure thousands of machines at a time",
    load: () => import("./commands/bench-machines.js"),
  },
  {
    path: ["bench", "rollout"],
    summary: "measure episodes end to end",
    load: () => import("./commands/bench-rollout.js"),
  },
  {
    path: ["bench", "scale"],
    summary: "measure forks of larger goldens, and with more children",
    load: () => import("./commands/bench-scale.js"),
  },
  {
    path: ["bench", "verify"],
    summary: "measure what verdicts cost",
    load: () => import("./commands/bench-verify.js"),
  },
  {
    path: ["bench", "wire"],
    summary: "measure the server with echo sessions",
    load: () => import("./commands/bench-wire.js"),
  },
  {
    path: ["bench", "rollout-pull"],
    summary: "measure resets out of warm pools, and episodes a second",
    load: () => import("./commands/bench-rollout-pull.js"),
  },
  {
    path: ["doctor"],
    summary: "say what this host offers and lacks",
    load: () => import("./commands/doctor.js"),
  },
  {
    path: ["smolcua", "grade"],
    summary: "grade answers by contracts and keys, line by line",
    load: () => import("./commands/smolcua-grade.js"),
  },
];

/** The words with the command of a group that is meant where they name none. */
export function withUsual(words: readonly string[]): readonly string[] {
  const [first = "", second = "-"] = words;
  const usual = Object.hasOwn(groups, first) ? groups[first]?.usual : undefined;
  const named = !second.startsWith("-") || second === "--help" || second === "-h";
  return usual === undefined || named ? words : [first, usual, ...words.slice(1)];
}

/** The entry that the words of a command line name, if they name one. */
export function find(words: readonly string[]): Entry | undefined {
  return catalogue.find((entry) => entry.path.every((word, index) => words[index] === word));
}

export const usageOf = (entry: Entry | undefined): number => entry?.usage ?? exitCodes.usage;
