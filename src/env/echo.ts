import { ShinkenError } from "../errors/index.js";
import type { Verdict } from "../verifiers/verdict.js";
import { checkpointMissing } from "./checkpoints.js";
import type {
  ActionResult,
  Environment,
  EnvironmentEvent,
  Observation,
  ResetResult,
  StepResult,
} from "./environment.js";

/**
 * An environment without a machine, for load tests and for clients that want to try the wire: every action comes back
 * as its own result, `done` and `fail` end the episode, nothing is graded.
 */
export class EchoEnvironment implements Environment {
  readonly task = "echo";
  #started = false;
  #over = false;
  #closed = false;
  #steps = 0;
  #seed: number | null = null;
  #last: Observation = { results: [] };

  reset(
    options: { seed?: number | undefined; params?: Record<string, unknown> | undefined } = {},
  ): Promise<ResetResult> {
    return settled(() => {
      this.#open();
      const { seed } = options;
      if (seed !== undefined && (!Number.isSafeInteger(seed) || seed < 0)) {
        throw new ShinkenError("bad_request", "seed: must be an integer from 0 to 2^53 - 1", {
          path: "seed",
        });
      }
      const [unknown] = Object.keys(options.params ?? {});
      if (unknown !== undefined) {
        throw new ShinkenError("bad_request", `params.${unknown}: echo has no parameters`, {
          path: `params.${unknown}`,
        });
      }
      this.#started = true;
      this.#over = false;
      this.#steps = 0;
      this.#seed = seed ?? null;
      this.#last = { instruction: "Say anything; it comes back.", results: [] };
      return { observation: structuredClone(this.#last), info: { seed: this.#seed } };
    });
  }

  step(actions: readonly unknown[]): Promise<StepResult> {
    return settled(() => {
      this.#running();
      if (this.#over)
        throw new ShinkenError("episode_over", "the episode is over", {
          suggestion: "reset starts a new one",
        });
      if (actions.length === 0)
        throw new ShinkenError("bad_action", "a step needs at least one action", { path: "actions" });
      const results = actions.map(echo);
      this.#steps += 1;
      this.#over = results.some(({ type }) => type === "done" || type === "fail");
      this.#last = { results };
      return {
        observation: { results: [...results] },
        reward: 0,
        terminated: this.#over,
        truncated: false,
        info: { step: this.#steps },
      };
    });
  }

  evaluate(): Promise<Verdict> {
    return settled(() => {
      this.#running();
      return {
        task: "echo",
        taskVersion: "1.0.0",
        verifierVersion: "none",
        status: "ungraded",
        score: null,
        passed: null,
        reason: "echo has nothing to grade",
        checks: [],
      };
    });
  }

  observe(): Promise<Observation> {
    return settled(() => {
      this.#running();
      return structuredClone(this.#last);
    });
  }

  fork({ atStep }: { atStep?: number | undefined } = {}): Promise<Environment> {
    return settled(() => {
      this.#running();
      if (atStep !== undefined) throw checkpointMissing(atStep, [], "echo has no machine to keep one of");
      const branch = new EchoEnvironment();
      branch.#started = true;
      branch.#over = this.#over;
      branch.#steps = this.#steps;
      branch.#seed = this.#seed;
      branch.#last = structuredClone(this.#last);
      return branch;
    });
  }

  /** Nothing ever runs for long enough to be stopped. */
  cancel(): void {}

  /** Nothing is ever pushed. */
  onEvent(_listener: (event: EnvironmentEvent) => void): void {}

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #open(): void {
    if (this.#closed) throw new ShinkenError("machine_closed", "the environment was closed");
  }

  #running(): void {
    this.#open();
    if (!this.#started)
      throw new ShinkenError("not_reset", "the environment has not been reset", {
        suggestion: "send reset first",
      });
  }
}

/** What throws becomes a rejection, as of any other environment. */
function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}

function echo(action: unknown, index: number): ActionResult {
  const given = action as { type?: unknown; text?: unknown } | null;
  if (typeof given !== "object" || given === null || typeof given.type !== "string") {
    const path = `actions[${index}].type`;
    throw new ShinkenError("bad_action", "an action is a map with a type", { path });
  }
  const text = typeof given.text === "string" ? given.text : JSON.stringify(given);
  return { type: given.type, text, truncated: false };
}
