import { ShinkenError } from "../errors/index.js";
import { nearest } from "../errors/nearest.js";
import type { SandboxProvider } from "../sandbox/sandbox.js";
import type { JudgeModel } from "../verifiers/index.js";
import type { EnvironmentOptions } from "./checkpoints.js";
import type { EnvironmentFactory, TaskSummary } from "./environment.js";
import { GoldenStore } from "./session/goldens.js";
import { PlainScenario } from "./session/plain-scenario.js";
import type { Scenario } from "./session/scenario.js";
import { Session } from "./session/session.js";
import { TaskScenario } from "./session/task-scenario.js";
import type { LoadedTask } from "./task/index.js";

export interface FactoryOptions {
  /** Makes the machines; stays the caller's to close, after `close` of the factory. */
  provider: SandboxProvider;
  tasks: readonly LoadedTask[];
  /** Answers judge nodes of tasks; without one they are ungraded. */
  judge?: JudgeModel | undefined;
  /** Goldens kept although no session uses them; 32 if unsaid. */
  maxIdleGoldens?: number;
}

/** Environments for tasks and for plain sandboxes; all its sessions share the goldens. */
export class TaskEnvironmentFactory implements EnvironmentFactory {
  readonly #provider: SandboxProvider;
  readonly #goldens: GoldenStore;
  readonly #tasks: readonly LoadedTask[];
  readonly #scenarios: ReadonlyMap<string, TaskScenario>;

  constructor(options: FactoryOptions) {
    const { provider, maxIdleGoldens } = options;
    this.#provider = provider;
    this.#goldens = new GoldenStore(
      provider,
      maxIdleGoldens === undefined ? {} : { maxIdle: maxIdleGoldens },
    );
    this.#tasks = options.tasks;
    this.#scenarios = new Map(
      options.tasks.map((task) => [task.id, new TaskScenario(task, this.#goldens, options.judge)]),
    );
  }

  tasks(): TaskSummary[] {
    return this.#tasks.map((loaded) => {
      const { id, version, tags } = loaded;
      const { instruction, use } = loaded.variant().task;
      return { id, version, instruction, tags: [...tags], ...(use === undefined ? {} : { use }) };
    });
  }

  params(task: string, seed: number): Record<string, unknown> {
    const loaded = this.#tasks.find(({ id }) => id === task);
    if (loaded === undefined) throw this.#unknown(task);
    return loaded.variant({ seed }).params;
  }

  create(task: string, options: EnvironmentOptions = {}): Promise<Session> {
    const scenario = this.#scenarios.get(task);
    if (scenario === undefined) return Promise.reject(this.#unknown(task));
    return this.#onImage(scenario.image, "task", scenario, options);
  }

  createSandbox(image: string, options: EnvironmentOptions = {}): Promise<Session> {
    return this.#onImage(image, "image", new PlainScenario(image, this.#goldens), options);
  }

  #unknown(task: string): ShinkenError {
    const meant = nearest(task, this.#scenarios.keys());
    return new ShinkenError("unknown_task", `there is no task "${task.slice(0, 128)}"`, {
      path: "task",
      suggestion:
        this.#scenarios.size === 0
          ? "this server has no tasks at all: shinken serve --tasks DIR serves a folder of them"
          : meant === undefined
            ? undefined
            : `did you mean "${meant}"?`,
    });
  }

  /** A session of the scenario, if its image is there; `field` names what the request said. */
  #onImage(image: string, field: string, scenario: Scenario, options: EnvironmentOptions): Promise<Session> {
    try {
      this.#provider.checkImage?.(image);
    } catch (error) {
      return Promise.reject(ofField(error, field));
    }
    return Promise.resolve(new Session(scenario, options));
  }

  /**
   * Makes the goldens of all tasks as drawn by `seeds` (the default variant if unsaid), so that no first reset waits.
   * Rejects with the first failure.
   */
  async warm(
    options: { seeds?: readonly number[]; onTask?: (id: string, done: number, all: number) => void } = {},
  ): Promise<void> {
    const seeds = options.seeds ?? [0];
    for (const [index, task] of this.#tasks.entries()) {
      for (const seed of seeds) {
        const lease = await this.#goldens.forVariant(task.variant({ seed }));
        lease.release();
      }
      options.onTask?.(task.id, index + 1, this.#tasks.length);
    }
  }

  /** Closes the goldens; sessions that are open keep theirs until they close. */
  close(): void {
    this.#goldens.close();
  }
}

/** The error with the field of the request that it is about. */
function ofField(error: unknown, path: string): ShinkenError {
  if (!(error instanceof ShinkenError)) return new ShinkenError("internal", String(error), { cause: error });
  const { code, message, suggestion } = error;
  return new ShinkenError(code, message, { path, suggestion, cause: error });
}
