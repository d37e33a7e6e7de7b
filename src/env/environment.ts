/**
 * What the server, the rollouts and the checkers see of an episode. `Session` implements it on a machine; `echo`
 * implements it without one for load tests. All methods reject with a `ShinkenError`.
 */
import type { Verdict } from "../verifiers/verdict.js";
import type { CheckpointListing, EnvironmentOptions } from "./checkpoints.js";
import type { Provenance, StateMark } from "./provenance.js";

/** A single action, already parsed (see `aci/`): `{type: "exec", ...}` and so on. */
export interface Action {
  type: string;
  [field: string]: unknown;
}

/** Result of one action, as text for a model and as fields for a program. */
export interface ActionResult {
  type: string;
  /** Text that a model reads; cut in the middle with a mark beyond the size limit. */
  text: string;
  truncated: boolean;
  /** Set if the action itself failed (a wrong path, a string to replace that is not there): the episode goes on. */
  error?: { code: string; message: string } | undefined;
  [field: string]: unknown;
}

export interface Observation {
  /** The task's instruction, on reset only. */
  instruction?: string | undefined;
  /** One result for each action of the step, in order. */
  results: ActionResult[];
}

/** What a model read and wrote before a step: messages, token ids, log-probabilities, usage. */
export type Decision = Readonly<Record<string, unknown>>;

export type Info = Record<string, unknown>;

export interface ResetResult {
  observation: Observation;
  info: Info;
}

export interface StepResult {
  observation: Observation;
  reward: number;
  terminated: boolean;
  truncated: boolean;
  info: Info;
}

/** Pushed while an episode runs. */
export type EnvironmentEvent =
  /** `partial`: a dense milestone has grown; it is not reached yet, or no longer. */
  | { event: "milestone"; check: string; reward: number; step: number; partial?: true }
  | { event: "progress"; kind: "loop" | "no_progress"; step: number; repeats: number; message: string }
  | { event: "infra"; code: string; message: string };

export interface Environment {
  /** Starts a new episode. Seeds come only through here: the same seed, the same machine to the bit. */
  reset(options?: {
    seed?: number | undefined;
    params?: Record<string, unknown> | undefined;
  }): Promise<ResetResult>;
  /** `decision`: what a model read and wrote for it; only the recorder looks at that. */
  step(actions: readonly unknown[], decision?: Decision): Promise<StepResult>;
  /** Grades the present state in a throw-away fork. Does not change or end the episode. */
  evaluate(): Promise<Verdict>;
  observe(): Promise<Observation>;
  /**
   * A second environment that continues on a branch of the machine: from this state, or from that after step `atStep` (0: after
   * the reset). Rejects with `checkpoint_missing`, which names the steps that are kept.
   */
  fork(options?: { atStep?: number | undefined }): Promise<Environment>;
  /** What is kept of former steps, at any time; absent where nothing ever is. Before `reset`: `not_reset`. */
  checkpoints?(): Promise<CheckpointListing>;
  /** Where the present episode began. Before `reset`: throws `not_reset`. Absent where there is no machine. */
  provenance?(): Provenance;
  /** The machine as it is now, for a recorder. Absent where there is no machine. */
  state?(): Promise<StateMark>;
  /** Writes the machine as it is now to a file. Rejects with `host_unsupported` where machines cannot be written. */
  saveState?(path: string): Promise<{ digest: string }>;
  /** Asks the running request to stop; it rejects with `cancelled`. */
  cancel(): void;
  onEvent(listener: (event: EnvironmentEvent) => void): void;
  /** Idempotent; frees the machine. */
  close(): Promise<void>;
  readonly task: string;
  /** Of the present episode, where it is recorded; null before the first reset. */
  readonly bundle?: { readonly episode: string; readonly file: string } | null;
}

/** A place in a recorded episode from which another one goes on. */
export interface BranchSource {
  /** Id of the episode. */
  bundle: string;
  /** After this step; 0: after the reset. */
  step: number;
  /** What becomes of what would leave the machine from there on; `refuse` if unsaid. */
  effects?: "refuse" | "mock" | undefined;
}

/** What is told of a task before it is played. */
export interface TaskSummary {
  id: string;
  version: string;
  instruction: string;
  tags: string[];
  /** `eval`: for measuring only. */
  use?: "eval";
}

/** Makes environments by name; the server's only door to tasks and machines. */
export interface EnvironmentFactory {
  /** Names of tasks that `create` accepts. */
  tasks(): TaskSummary[];
  /** Parameters that the seed draws for a task; `reset` takes them. Throws `unknown_task`. Absent where tasks have none. */
  params?(task: string, seed: number): Record<string, unknown>;
  /** Rejects with `unknown_task`, or with `image_missing` where the task's image is not there. */
  create(task: string, options?: EnvironmentOptions): Promise<Environment>;
  /** A plain sandbox without any grading. Rejects with `image_missing` where there is no such image. */
  createSandbox(image: string, options?: EnvironmentOptions): Promise<Environment>;
  /**
   * A branch of a recorded episode, which is run again up to the step: reset already, its next step is the one after. Rejects with
   * `bundle_missing`, with `not_repeatable`, with `episode_over` for its last step, and with `bad_request` for one that it does not
   * have. Absent where nothing is recorded.
   */
  branch?(from: BranchSource, options?: EnvironmentOptions): Promise<Environment>;
}
