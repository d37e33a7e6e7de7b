/** Made scores of tasks, for tests of properties. */
import fc from "fast-check";
import { Random } from "../../../src/rollout/statistics/index.js";

const score = fc.oneof(
  fc.constantFrom(0, 1),
  fc.integer({ min: 0, max: 20 }).map((value) => value / 20),
);

/** One to eight tasks with none to seven graded scores each. */
export const someTasks = fc.array(fc.array(score, { maxLength: 7 }), { minLength: 1, maxLength: 8 });

/** The same tasks and replicas in another order. */
export function shuffled(tasks: readonly (readonly number[])[], seed: number): number[][] {
  const random = new Random(seed);
  const mix = <T>(values: readonly T[]): T[] =>
    values
      .map((value) => ({ value, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value);
  return mix(tasks.map(mix));
}
