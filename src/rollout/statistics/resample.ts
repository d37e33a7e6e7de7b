/**
 * The two-level resampling: tasks with replacement, then replicas of each drawn task with replacement. Tasks whose scores are the
 * same are drawn together, as counts, and so are equal scores of a task. That changes nothing in the distribution: counts
 * of draws with replacement are multinomial, which is what is drawn. It makes the work grow with the number of different scores, and
 * not with the number of replicas; and the order of tasks and replicas cannot matter.
 */
import type { Random } from "./random.js";

/** Scores of one task in one run: what they are, and how often each occurs. */
interface Arm {
  size: number;
  /** All of them, ascending. */
  scores: Float64Array;
  /** The different ones, ascending. */
  values: readonly number[];
  counts: readonly number[];
}

/** Tasks with the same scores. */
interface Group {
  tasks: number;
  arms: readonly Arm[];
}

/** Tasks as they are resampled: for each the runs' graded scores, none empty. The statistic is the mean over tasks of the last arm's mean less the first's. */
export type Tasks = readonly (readonly (readonly number[])[])[];

export interface Resampling {
  tasks: number;
  groups: readonly Group[];
  /** About how many random numbers one resample takes. */
  work: number;
}

/** A binomial draw looks at some binary digits of the chance. */
const wordsOfABinomial = 4;
const tossesOfAWord = 32;

export function resamplingOf(tasks: Tasks): Resampling {
  const groups = new Map<string, { tasks: number; arms: Arm[] }>();
  for (const runs of tasks) {
    const arms = runs.map(armOf);
    const key = JSON.stringify(arms.map(({ values, counts }) => [values, counts]));
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { tasks: 1, arms });
    else known.tasks += 1;
  }
  // In an order of their own: the same tasks in another order give the same draws.
  const ordered = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  let work = 0;
  for (const group of ordered) {
    for (const { size, values } of group.arms) {
      const draws = group.tasks * size;
      const counted = values.length * wordsOfABinomial + (2 * draws) / tossesOfAWord;
      work += oneByOne(draws, values.length) ? draws : counted;
    }
  }
  return { tasks: tasks.length, groups: ordered, work };
}

/** Few draws of many different scores are made one by one. */
const oneByOne = (draws: number, different: number): boolean =>
  different > 2 && draws <= different * wordsOfABinomial;

function armOf(given: readonly number[]): Arm {
  const scores = Float64Array.from(given).sort();
  const values: number[] = [];
  const counts: number[] = [];
  for (const score of scores) {
    if (values.length > 0 && values[values.length - 1] === score)
      counts[counts.length - 1] = (counts[counts.length - 1] ?? 0) + 1;
    else {
      values.push(score);
      counts.push(1);
    }
  }
  return { size: scores.length, scores, values, counts };
}

/** One resample's mean over tasks; with two arms, of the difference second less first. */
export function resampledMean({ tasks, groups }: Resampling, random: Random): number {
  let sum = 0;
  let open = tasks;
  let left = tasks;
  for (const group of groups) {
    if (open === 0) break;
    const drawn = random.binomial(open, group.tasks, left);
    open -= drawn;
    left -= group.tasks;
    if (drawn === 0) continue;
    group.arms.forEach((arm, index) => {
      const mean = drawnSum(arm, drawn * arm.size, random) / arm.size;
      sum += index === 0 && group.arms.length > 1 ? -mean : mean;
    });
  }
  return sum / tasks;
}

/** Sum of so many of the arm's scores, drawn with replacement. */
function drawnSum({ size, scores, values, counts }: Arm, draws: number, random: Random): number {
  let sum = 0;
  if (oneByOne(draws, values.length)) {
    for (let draw = 0; draw < draws; draw += 1) sum += scores[random.below(size)] ?? 0;
    return sum;
  }
  let open = draws;
  let left = size;
  for (let index = 0; index < values.length && open > 0; index += 1) {
    const count = counts[index] ?? 0;
    const drawn = random.binomial(open, count, left);
    sum += drawn * (values[index] ?? 0);
    open -= drawn;
    left -= count;
  }
  return sum;
}
