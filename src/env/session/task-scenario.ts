import type { JudgeModel } from "../../verifiers/index.js";
import type { LoadedTask, TaskVariant } from "../task/index.js";
import type { GoldenStore } from "./goldens.js";
import { TaskGrader } from "./grader.js";
import type { Baseline, Scenario, Start } from "./scenario.js";

const user = "agent";
const home = `/home/${user}`;
/** Variants whose golden's own milestones are remembered. */
const baselinesKept = 1_024;

/** The episodes of one task; shared by all sessions that play it. */
export class TaskScenario implements Scenario {
  readonly id: string;
  readonly version: string;
  /** Parameters do not reach it, so it is the same in every variant. */
  readonly image: string;
  readonly #task: LoadedTask;
  readonly #goldens: GoldenStore;
  readonly #judge: JudgeModel | undefined;
  /** Variants whose assets were all read once. */
  readonly #checked = new Set<string>();
  /** By variant: its golden never changes, so these are read once. */
  readonly #baselines = new Map<string, Promise<Baseline>>();

  /** `judge` answers judge nodes; without one they are ungraded. */
  constructor(task: LoadedTask, goldens: GoldenStore, judge?: JudgeModel) {
    this.id = task.id;
    this.version = task.version;
    this.image = task.variant().task.image;
    this.#task = task;
    this.#goldens = goldens;
    this.#judge = judge;
  }

  start(seed: number, params?: Record<string, unknown>): Start {
    const variant = this.#task.variant({ seed, params });
    const { task } = variant;
    const { agent } = task.limits;
    const golden = async () => {
      await this.#checkAssets(variant);
      return this.#goldens.forVariant(variant);
    };
    return {
      instruction: task.instruction,
      params: variant.params,
      digest: variant.digest,
      user,
      home,
      cwd: task.cwd ?? home,
      granted: new Set(task.capabilities.agent),
      use: task.use,
      limits: {
        steps: task.limits.steps,
        guestSeconds: agent.guest_seconds,
        instructions: agent.instructions ?? Number.POSITIVE_INFINITY,
        wallSeconds: agent.wall_seconds,
      },
      grader: new TaskGrader(variant, golden, (read) => this.#baseline(variant, read), this.#judge),
      golden,
    };
  }

  /** Those for grading too: no episode begins that could not be graded. Rejects with `asset_mismatch`. */
  async #checkAssets(variant: TaskVariant): Promise<void> {
    if (this.#checked.has(variant.digest)) return;
    for (const path of Object.keys(variant.task.assets)) await variant.readAsset(path);
    this.#checked.add(variant.digest);
  }

  #baseline(variant: TaskVariant, read: () => Promise<Baseline>): Promise<Baseline> {
    const known = this.#baselines.get(variant.digest);
    if (known !== undefined) return known;
    const reading = read();
    this.#baselines.set(variant.digest, reading);
    reading.catch(() => this.#baselines.delete(variant.digest));
    if (this.#baselines.size > baselinesKept)
      this.#baselines.delete(this.#baselines.keys().next().value ?? "");
    return reading;
  }
}
