/** The golden of a task with services: that of the agent's machine and one for each service. */
import type { ForkOptions, Golden, Sandbox } from "../../sandbox/sandbox.js";
import { Ensemble, type Join } from "./ensemble.js";

export class EnsembleGolden implements Golden {
  readonly digest: string;
  readonly image: string | undefined;
  readonly memoryBytes: number;
  readonly #main: Golden;
  readonly #services: ReadonlyMap<string, Golden>;
  readonly #join: Join;

  /** The goldens stay their owner's. */
  constructor(main: Golden, services: ReadonlyMap<string, Golden>, join: Join) {
    this.digest = main.digest;
    this.image = main.image;
    this.memoryBytes = main.memoryBytes;
    this.#main = main;
    this.#services = services;
    this.#join = join;
  }

  fork(options: ForkOptions = {}): Promise<Sandbox> {
    const services = new Map(
      [...this.#services].map(
        ([name, golden]) => [name, (given: ForkOptions) => golden.fork(given)] as const,
      ),
    );
    return Ensemble.make({ main: (given) => this.#main.fork(given), services }, this.#join, options);
  }

  close(): void {
    // Whoever leased the goldens releases them.
  }
}
