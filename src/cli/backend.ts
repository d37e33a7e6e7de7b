/** What stands behind a server or a local run: machines, goldens and tasks. Nothing is started before it is needed. */
import type { TaskEnvironmentFactory } from "../env/index.js";
import type { TaskSet } from "../env/task/index.js";
import type { EngineLoad, GuestMemory, MemoryKind } from "../sandbox/microvm/addon.js";
import type { JudgeModel } from "../verifiers/index.js";
import type { MicrovmProvider } from "../sandbox/microvm/provider.js";

export interface Backend {
  provider: MicrovmProvider;
  factory: TaskEnvironmentFactory;
  /** Undefined where no folder was given. */
  tasks: TaskSet | undefined;
  /** The judge that the environment names. */
  judge: JudgeModel | undefined;
  openMachines(): number;
  guestMemory(): GuestMemory;
  engine(): EngineLoad | undefined;
  killedForks(): Readonly<Record<string, number>>;
  /** Frees goldens, machines and worker threads. */
  close(): Promise<void>;
}

export interface BackendOptions {
  /** Folder of tasks; none if unsaid. */
  tasks?: string | undefined;
  /** Share of the memory bounds that may be in use; as `MicrovmOptions` says if unsaid. */
  memoryShare?: number | undefined;
  /** Guest memory; the provider's default if unsaid. */
  memory?: MemoryKind | undefined;
}

/** Loads the tasks and opens the provider. Rejects with `bad_task` or `host_unsupported`. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const [
    { TaskEnvironmentFactory, loadTasks },
    { MicrovmProvider },
    { engineLoad, guestMemory },
    { publishedScorers: scorers },
  ] = await Promise.all([
    import("../env/index.js"),
    import("../sandbox/microvm/provider.js"),
    import("../sandbox/microvm/addon.js"),
    import("../suites/index.js"),
  ]);
  const { judgeFromEnvironment } = await import("../verifiers/index.js");
  const judge = await judgeFromEnvironment(process.env);
  const tasks = options.tasks === undefined ? undefined : await loadTasks(options.tasks, { scorers });
  const provider = new MicrovmProvider({ memoryShare: options.memoryShare, memory: options.memory });
  const factory = new TaskEnvironmentFactory({ provider, tasks: tasks?.tasks ?? [], judge });
  return {
    provider,
    factory,
    tasks,
    judge,
    openMachines: () => provider.openMachines(),
    guestMemory,
    engine: engineLoad,
    killedForks: () => provider.killedForks(),
    async close() {
      factory.close();
      await provider.close();
      const { closePool } = await import("../verifiers/index.js");
      await closePool();
    },
  };
}
