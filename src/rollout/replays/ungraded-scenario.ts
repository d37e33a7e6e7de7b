/** A task's episodes without its milestones: for an end state that is graded afterwards, nobody needs to ask on the way. */
import type { Scenario, Start } from "../../env/session/scenario.js";

export class UngradedScenario implements Scenario {
  readonly id: string;
  readonly version: string;
  readonly image: string;
  readonly #inner: Scenario;

  constructor(inner: Scenario) {
    this.id = inner.id;
    this.version = inner.version;
    this.image = inner.image;
    this.#inner = inner;
  }

  start(seed: number, params?: Record<string, unknown>): Start {
    return { ...this.#inner.start(seed, params), grader: null };
  }
}
