/** The recorder of a server process. */
import type { EnvironmentOptions } from "../env/checkpoints.js";
import type { Environment, EnvironmentFactory } from "../env/environment.js";
import type { Backend } from "./backend.js";
import { version } from "./version.js";

export interface ServerRecorder {
  /** The backend's factory, recorded. */
  factory(backend: Backend): EnvironmentFactory;
  environment(inner: Environment, options: EnvironmentOptions): Environment;
  close(): Promise<void>;
}

/** Environment variables whose values are ours to keep secret. */
const secretVariables = ["SHINKEN_TOKEN", "SHINKEN_JUDGE_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/** Records into `folder`, by default the state folder's; undefined where nothing is to be recorded. */
export async function openRecorder(
  folder: string | false | undefined,
  secrets: readonly string[],
): Promise<ServerRecorder | undefined> {
  if (folder === false) return undefined;
  const { Recorder, RecordedEnvironment, RecordedFactory, defaultReplayFolder, noFacts } = await import(
    "../replay/index.js"
  );
  const recorder = new Recorder({
    folder: folder ?? defaultReplayFolder(),
    runtime: `shinken-gym/${version()}`,
    secrets: [...secrets, ...secretVariables.map((name) => process.env[name] ?? "")],
  });
  return {
    factory: ({ factory, provider, tasks }) =>
      new RecordedFactory(factory, recorder, {
        provider: provider.name,
        machineAbi: provider.machineAbi,
        memory: provider.memory,
        taskSet: tasks?.digest ?? null,
      }),
    environment: (inner, options) =>
      options.record === false ? inner : new RecordedEnvironment(inner, recorder, options, noFacts),
    close: () => recorder.close(),
  };
}
