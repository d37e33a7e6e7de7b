/**
 * Which group comes next. A draw depends on the seed, the number of the draw and the weights at that moment only: never on the clock, nor
 * on who pulls. So the same seed and the same changes of weights before the same draws give the same groups.
 */
import { ShinkenError } from "../../errors/index.js";
import { subSeed } from "../seeds.js";
import type { RolloutSpec } from "./spec.js";

export interface DrawnGroup {
  /** From 1, in the order of drawing. */
  readonly number: number;
  /** `g1` and so on. */
  readonly id: string;
  readonly task: string;
  /** Parameters come from it, so the n-th group of a task is the same problem whatever else is drawn. */
  readonly seed: number;
  readonly priority: number;
}

/** Draws have 48 bits. */
const drawRange = 2 ** 48;

export type SchedulerSpec = Pick<
  RolloutSpec,
  "tasks" | "seed" | "seeds" | "weights" | "priorities" | "quotas" | "groups"
>;

export class GroupScheduler {
  readonly #spec: SchedulerSpec;
  readonly #weights = new Map<string, number>();
  readonly #drawn = new Map<string, number>();
  /** Tasks of one priority, the highest first. */
  readonly #levels: readonly (readonly string[])[];
  #count = 0;

  constructor(spec: SchedulerSpec) {
    this.#spec = spec;
    for (const task of spec.tasks) this.#weights.set(task, spec.weights[task] ?? 1);
    const priorities = [...new Set(spec.tasks.map((task) => this.#priority(task)))].sort((a, b) => b - a);
    this.#levels = priorities.map((level) => spec.tasks.filter((task) => this.#priority(task) === level));
  }

  /** Groups drawn so far, of one task or of all. */
  drawn(task?: string): number {
    return task === undefined ? this.#count : (this.#drawn.get(task) ?? 0);
  }

  weight(task: string): number {
    return this.#weights.get(task) ?? 0;
  }

  /** For the groups drawn from now on; tasks that are not named keep theirs. */
  setWeights(weights: Readonly<Record<string, number>>): void {
    for (const task of Object.keys(weights)) {
      if (this.#weights.has(task)) continue;
      const path = `weights.${task}`;
      throw new ShinkenError("unknown_task", `the rollout has no task '${task}'`, { path });
    }
    for (const [task, weight] of Object.entries(weights)) this.#weights.set(task, weight);
  }

  /** No weights bring any further group. */
  get exhausted(): boolean {
    const { groups, tasks } = this.#spec;
    return (groups !== null && this.#count >= groups) || tasks.every((task) => this.#usedUp(task));
  }

  /** The next group; null while there is none to draw. */
  next(): DrawnGroup | null {
    if (this.exhausted) return null;
    const level = this.#levels.find((tasks) => tasks.some((task) => this.#drawable(task)));
    if (level === undefined) return null;
    const candidates = level.filter((task) => this.#drawable(task));
    const task = this.#pick(candidates);
    const nth = this.drawn(task);
    const { seed, seeds } = this.#spec;
    this.#count += 1;
    this.#drawn.set(task, nth + 1);
    return {
      number: this.#count,
      id: `g${this.#count}`,
      task,
      seed: seeds[nth % Math.max(1, seeds.length)] ?? subSeed(seed, `pull/group/${task}/${nth}`),
      priority: this.#priority(task),
    };
  }

  #pick(candidates: readonly string[]): string {
    const total = candidates.reduce((sum, task) => sum + this.weight(task), 0);
    let left = (subSeed(this.#spec.seed, `pull/draw/${this.#count}`) / drawRange) * total;
    for (const task of candidates) {
      left -= this.weight(task);
      if (left < 0) return task;
    }
    // Rounding may leave a little of the last one's share.
    return candidates.at(-1) ?? "";
  }

  #drawable(task: string): boolean {
    return this.weight(task) > 0 && !this.#usedUp(task);
  }

  #usedUp(task: string): boolean {
    return this.drawn(task) >= (this.#spec.quotas[task] ?? Number.POSITIVE_INFINITY);
  }

  #priority(task: string): number {
    return this.#spec.priorities[task] ?? 0;
  }
}

/** Seed of a replica's machine. */
export function replicaSeed(groupSeed: number, replica: number): number {
  return subSeed(groupSeed, `pull/replica/${replica}`);
}
