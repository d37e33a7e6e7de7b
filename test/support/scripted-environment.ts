/**
 * An environment without a machine whose behaviour the test's actions choose, for tests of the wire. It counts how
 * many are open, so that leaks show.
 */
import type {
  ActionResult,
  Environment,
  EnvironmentEvent,
  EnvironmentFactory,
  Observation,
  ResetResult,
  StepResult,
} from "../../src/env/environment.js";
import { type ErrorCode, ShinkenError } from "../../src/errors/index.js";
import type { Verdict } from "../../src/verifiers/verdict.js";

interface ScriptedAction {
  type: string;
  text?: string;
  ms?: number;
  code?: ErrorCode;
  bytes?: number;
  event?: EnvironmentEvent;
}

export const opened = { now: 0, ever: 0 };

export class ScriptedEnvironment implements Environment {
  readonly task: string;
  private listeners: ((event: EnvironmentEvent) => void)[] = [];
  private stop: (() => void) | undefined;
  private closed = false;
  private begun = false;
  /** Steps done, so that a test can see that a resend did nothing. */
  private done = 0;

  constructor(task: string, done = 0) {
    this.task = task;
    this.done = done;
    opened.now++;
    opened.ever++;
  }

  reset(
    options: { seed?: number | undefined; params?: Record<string, unknown> | undefined } = {},
  ): Promise<ResetResult> {
    if (options.params?.["refuse"] === true)
      return Promise.reject(new ShinkenError("bad_request", "as asked for", { path: "params.refuse" }));
    this.begun = true;
    this.done = 0;
    const info = { seed: options.seed ?? null, params: options.params ?? {}, ready_ms: 1.25 };
    return Promise.resolve({ observation: { instruction: `Play ${this.task}.`, results: [] }, info });
  }

  async step(actions: readonly unknown[]): Promise<StepResult> {
    const results: ActionResult[] = [];
    let terminated = false;
    const info: Record<string, unknown> = {};
    for (const action of actions as ScriptedAction[]) {
      let text = action.text ?? "";
      switch (action.type) {
        case "echo":
          break;
        case "sleep":
          await this.sleep(action.ms ?? 0);
          break;
        case "big":
          text = "x".repeat(action.bytes ?? 0);
          break;
        case "throw":
          throw action.code === undefined
            ? new Error("a plain error")
            : new ShinkenError(action.code, "as asked for");
        case "nan":
          info["value"] = Number.NaN;
          break;
        case "event":
          for (const listener of this.listeners) if (action.event !== undefined) listener(action.event);
          break;
        case "done":
          terminated = true;
          break;
        default:
          throw new ShinkenError("bad_action", `type: no action '${action.type}'`, {
            path: "actions[0].type",
          });
      }
      results.push({ type: action.type, text, truncated: false });
    }
    this.done++;
    return {
      observation: { results },
      reward: 0.5,
      terminated,
      truncated: false,
      info: { ...info, done: this.done },
    };
  }

  evaluate(): Promise<Verdict> {
    return Promise.resolve({
      task: this.task,
      taskVersion: "1",
      verifierVersion: "none",
      status: "graded",
      score: 1,
      passed: true,
      checks: [{ id: "always", status: "passed", score: 1, weight: 1, evidence: "nothing to see", ms: 0 }],
    });
  }

  observe(): Promise<Observation> {
    if (!this.begun)
      return Promise.reject(new ShinkenError("not_reset", "the environment has not been reset"));
    return Promise.resolve({ results: [{ type: "observe", text: String(this.done), truncated: false }] });
  }

  fork(): Promise<Environment> {
    const branch = new ScriptedEnvironment(this.task, this.done);
    branch.begun = true;
    return Promise.resolve(branch);
  }

  cancel(): void {
    this.stop?.();
  }

  onEvent(listener: (event: EnvironmentEvent) => void): void {
    this.listeners.push(listener);
  }

  close(): Promise<void> {
    if (!this.closed) opened.now--;
    this.closed = true;
    return Promise.resolve();
  }

  private async sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      this.stop = () => {
        clearTimeout(timer);
        reject(new ShinkenError("cancelled", "the request was cancelled"));
      };
    });
  }
}

export const scriptedFactory: EnvironmentFactory = {
  tasks: () => [{ id: "scripted", version: "1", instruction: "Play scripted.", tags: ["test"] }],
  async create(task) {
    if (task === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
    else if (task === "broken") throw new ShinkenError("setup_failed", "the setup failed, as asked for");
    else if (task !== "scripted")
      throw new ShinkenError("unknown_task", `no task '${task}'`, { path: "task" });
    return new ScriptedEnvironment(task);
  },
  createSandbox(image) {
    return Promise.resolve(new ScriptedEnvironment(`image:${image}`));
  },
};
