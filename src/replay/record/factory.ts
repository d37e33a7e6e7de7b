/** A factory whose environments are recorded, unless somebody asks that one is not. */
import type { EnvironmentOptions } from "../../env/checkpoints.js";
import type { Environment, EnvironmentFactory } from "../../env/environment.js";
import type { SessionFacts } from "../format/channels.js";
import type { Recorder } from "../write/recorder.js";
import { RecordedEnvironment } from "./environment.js";
import type { RecordedFacts } from "./facts.js";

export class RecordedFactory implements EnvironmentFactory {
  readonly #inner: EnvironmentFactory;
  readonly #recorder: Recorder;
  readonly #facts: RecordedFacts;

  constructor(inner: EnvironmentFactory, recorder: Recorder, facts: RecordedFacts) {
    this.#inner = inner;
    this.#recorder = recorder;
    this.#facts = facts;
  }

  tasks(): ReturnType<EnvironmentFactory["tasks"]> {
    return this.#inner.tasks();
  }

  params(task: string, seed: number): Record<string, unknown> {
    return this.#inner.params?.(task, seed) ?? {};
  }

  create(task: string, options: EnvironmentOptions = {}): Promise<Environment> {
    return this.#recorded(options, (traced) => this.#inner.create(task, traced));
  }

  createSandbox(image: string, options: EnvironmentOptions = {}): Promise<Environment> {
    return this.#recorded(options, (traced) => this.#inner.createSandbox(image, traced));
  }

  /** The environment, which has begun already, recorded as a branch of a recorded episode. */
  continuing(
    inner: Environment,
    parent: NonNullable<SessionFacts["parent"]>,
    options: EnvironmentOptions = {},
  ): Promise<Environment> {
    if (options.record === false) return Promise.resolve(inner);
    return RecordedEnvironment.continuing(inner, this.#recorder, options, this.#facts, parent);
  }

  async #recorded(
    options: EnvironmentOptions,
    make: (options: EnvironmentOptions) => Promise<Environment>,
  ): Promise<Environment> {
    if (options.record === false) return make(options);
    const inner = await make({ ...options, traced: true });
    return new RecordedEnvironment(inner, this.#recorder, options, this.#facts);
  }
}
