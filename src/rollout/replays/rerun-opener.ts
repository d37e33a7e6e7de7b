/** Sessions that can repeat a recorded episode: of the same task at the same version, on machines that give the same states. */
import type { Session } from "../../env/session/session.js";
import { type EnvironmentOptions, TaskEnvironmentFactory } from "../../env/index.js";
import type { LoadedTask } from "../../env/task/index.js";
import { ShinkenError } from "../../errors/index.js";
import type { SessionFacts } from "../../replay/index.js";
import type { SandboxProvider } from "../../sandbox/sandbox.js";
import type { JudgeModel } from "../../verifiers/index.js";

export interface OpenerOptions {
  provider: SandboxProvider;
  tasks: readonly LoadedTask[];
  /** Answers judge nodes of milestones; without one they pay nothing. */
  judge?: JudgeModel | undefined;
  /** Whose goldens are used, and which stays the caller's to close; one of its own if unsaid. */
  factory?: TaskEnvironmentFactory | undefined;
  /**
   * Take the task as it is now though it says another version or variant: for verifiers that were changed since. Whether the machine
   * is the same is then a matter of its state alone.
   */
  anyVariant?: boolean | undefined;
}

export interface SessionOpener {
  /**
   * A session that was not reset. Rejects with `not_repeatable`, whose `path` names the recorded fact that stands against it:
   * `image` (recorded without a machine, or the image is not there), `machine_abi`, `task`, `task_version` or `variant`.
   */
  readonly open: (facts: SessionFacts, options?: Pick<EnvironmentOptions, "checkpoints">) => Promise<Session>;
  /** Frees its goldens; sessions that are open keep theirs. */
  readonly close: () => void;
}

const plainPrefix = "sandbox:";

export function sessionOpener(options: OpenerOptions): SessionOpener {
  const { provider, tasks, judge } = options;
  const factory = options.factory ?? new TaskEnvironmentFactory({ provider, tasks, judge });
  const known = new Map(tasks.map((task) => [task.id, task]));
  return {
    open: async (facts, { checkpoints } = {}) => {
      checkMachine(facts, provider);
      const plain = facts.task.startsWith(plainPrefix) && !known.has(facts.task);
      if (!plain) checkTask(facts, known.get(facts.task), options.anyVariant === true);
      // Traced, so that a branch of it can be repeated in turn.
      const kept = { traced: true, checkpoints };
      const opening = plain
        ? factory.createSandbox(facts.task.slice(plainPrefix.length), kept)
        : factory.create(facts.task, kept);
      return opening.catch((error: unknown) => {
        if (!(error instanceof ShinkenError) || error.code !== "image_missing") throw error;
        throw notRepeatable("image", error.message, error.suggestion, error);
      });
    },
    close: () => {
      if (options.factory === undefined) factory.close();
    },
  };
}

/** The refusal to run an episode again; `path` names what stands against it. */
export function notRepeatable(path: string, why: string, suggestion?: string, cause?: unknown): ShinkenError {
  return new ShinkenError("not_repeatable", `it cannot be run again: ${why}`, { path, suggestion, cause });
}

/** Throws `not_repeatable` where the machines that there are cannot repeat the recorded one. */
export function checkMachine(facts: SessionFacts, provider: SandboxProvider): void {
  if (facts.image === null || facts.fork === null)
    throw notRepeatable("image", "it was recorded without a machine");
  const own = provider.machineAbi ?? null;
  if (facts.machine_abi !== own)
    throw notRepeatable(
      "machine_abi",
      `it was recorded on machine ABI ${facts.machine_abi ?? "unknown"}, and these machines are of ABI ${own ?? "unknown"}`,
      "use the version of shinken that recorded it",
    );
}

function checkTask(facts: SessionFacts, task: LoadedTask | undefined, anyVariant: boolean): void {
  const suggestion = "give the folder of tasks as it was when this was recorded";
  if (task === undefined) throw notRepeatable("task", `there is no task "${facts.task}"`, suggestion);
  if (anyVariant) return;
  if (task.version !== facts.task_version)
    throw notRepeatable(
      "task_version",
      `it was recorded with version ${facts.task_version} of ${task.id}, and this is ${task.version}`,
      suggestion,
    );
  let digest: string;
  try {
    ({ digest } = task.variant({ params: facts.params }));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw notRepeatable("variant", `the task does not take its parameters: ${why}`, suggestion, cause);
  }
  if (digest !== facts.variant)
    throw notRepeatable(
      "variant",
      `the task ${task.id} was changed since: its variant is ${digest.slice(0, 16)}, and ${(facts.variant ?? "none").slice(0, 16)} was recorded`,
      suggestion,
    );
}
