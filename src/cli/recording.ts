/** The recorder of a server process. */
import type { EnvironmentOptions } from "../env/checkpoints.js";
import type { Environment } from "../env/environment.js";
import { ShinkenError } from "../errors/index.js";
import type { RecorderStats } from "../replay/index.js";
import type { BranchingFactory } from "../rollout/replays/index.js";
import type { Backend } from "./backend.js";
import { version } from "./version.js";

export interface ServerRecorder {
  /** The backend's factory, recorded. */
  factory(backend: Backend): BranchingFactory;
  environment(inner: Environment, options: EnvironmentOptions): Environment;
  /** For the metrics. */
  stats(): RecorderStats;
  close(): Promise<void>;
}

/** Environment variables whose values are ours to keep secret. */
const secretVariables = ["SHINKEN_TOKEN", "SHINKEN_JUDGE_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/** What the default folder may hold if nobody says. */
const defaultBudgetMiB = 4_096;

/**
 * Records into `folder`, by default the state folder's; undefined where nothing is to be recorded. Only the default folder is kept
 * under a budget: one that somebody has named is theirs.
 */
export async function openRecorder(
  folder: string | false | undefined,
  secrets: readonly string[],
  { budgetMiB, states }: { budgetMiB?: number | undefined; states?: boolean | undefined } = {},
): Promise<ServerRecorder | undefined> {
  if (folder !== undefined && budgetMiB !== undefined)
    throw new ShinkenError("bad_request", "--record-budget is for the default folder only", {
      path: "--record-budget",
      suggestion: "a folder that --record names is never pruned",
    });
  if (folder === false) return undefined;
  const [
    { Recorder, RecordedEnvironment, RecordedFactory, defaultReplayFolder, noFacts },
    { BranchingFactory, sessionOpener },
  ] = await Promise.all([import("../replay/index.js"), import("../rollout/replays/index.js")]);
  const recorder = new Recorder({
    folder: folder ?? defaultReplayFolder(),
    runtime: `shinken-gym/${version()}`,
    secrets: [...secrets, ...secretVariables.map((name) => process.env[name] ?? "")],
    states,
    budgetBytes: folder === undefined ? (budgetMiB ?? defaultBudgetMiB) * 1024 * 1024 : undefined,
  });
  return {
    factory: ({ factory, provider, tasks, judge }) => {
      const recorded = new RecordedFactory(factory, recorder, {
        provider: provider.name,
        machineAbi: provider.machineAbi,
        memory: provider.memory,
        taskSet: tasks?.digest ?? null,
      });
      const opener = sessionOpener({ provider, factory, judge, tasks: tasks?.tasks ?? [] });
      return new BranchingFactory(recorded, recorder.folder, opener);
    },
    environment: (inner, options) =>
      options.record === false ? inner : new RecordedEnvironment(inner, recorder, options, noFacts),
    stats: () => recorder.stats(),
    close: () => recorder.close(),
  };
}
