import { ShinkenError } from "../../errors/index.js";
import { type BootstrapOptions, defaultResamples, mostDraws } from "./bootstrap.js";
import { checkShare, checkWhole } from "./counts.js";
import { pairsOf, type Scores } from "./paired.js";
import { Random } from "./random.js";

export interface RegressionOptions extends Pick<BootstrapOptions, "seed" | "resamples"> {
  /** How often at most a pair of equal runs is called a regression; 0.05 unless told. */
  alpha?: number | undefined;
  /** A drop of the mean score that is no larger does not count; 0 unless told. */
  margin?: number | undefined;
}

export interface Regression {
  /** Whether `shinken compare` fails: p <= alpha, and the drop is larger than the margin. */
  significant: boolean;
  /** The one-sided p of a drop as large by chance alone; null where no task has both runs. */
  p: number | null;
  /** Mean over tasks of the second run's mean score less the first's. */
  difference: number | null;
  tasks: number;
  /** Relabellings that p was counted over. */
  resamples: number;
}

const defaultAlpha = 0.05;

/** With fewer relabellings p could hardly come below 0.01. */
const fewestResamples = 199;

/** Sums in another order differ in their last digits; equal differences must count as equal, which can only raise p. */
const rounding = 1e-12;

/**
 * Whether the second run is worse than the first on these tasks: a permutation test stratified by task (Good 2005,
 * "Permutation, Parametric and Bootstrap Tests of Hypotheses"). If nothing changed, the replicas of a task are exchangeable between
 * the runs, so which run each belongs to is drawn anew, task by task; p is the share of such relabellings whose mean difference is
 * at most the one seen, the seen one counted in (Phipson and Smyth 2010): a valid p whatever the scores' distribution, for any
 * number of tasks, replicas and relabellings. It asks about these tasks, not about others like them.
 */
export function regressionOf(first: Scores, second: Scores, options: RegressionOptions = {}): Regression {
  const { alpha = defaultAlpha, margin = 0, seed = 0, resamples = defaultResamples } = options;
  checkShare("alpha", alpha);
  checkWhole("resamples", resamples, 1);
  const strata = pairsOf(first, second).map(stratumOf).sort(byContent);
  if (strata.length === 0) return { significant: false, p: null, difference: null, tasks: 0, resamples: 0 };
  const difference = strata.reduce((sum, { seen }) => sum + seen, 0) / strata.length;
  // A task whose scores are all the same differs by 0 however it is labelled.
  const open = strata.filter(({ scores }) => scores.some((score) => score !== scores[0]));
  const drawsOfOne = open.reduce((sum, { drawn }) => sum + drawn, 0);
  const counted = Math.min(resamples, Math.floor(mostDraws / Math.max(1, drawsOfOne)));
  if (counted < Math.min(resamples, fewestResamples))
    throw new ShinkenError("too_large", `${drawsOfOne} replicas are too many to compare`, {
      suggestion: `compare at most ${Math.floor(mostDraws / fewestResamples)}`,
    });
  const random = new Random(seed);
  let asLow = 1;
  for (let index = 0; index < counted; index += 1) {
    const sum = open.reduce((total, stratum) => total + relabelled(stratum, random), 0);
    if (sum / strata.length <= difference + rounding) asLow += 1;
  }
  const p = asLow / (counted + 1);
  const significant = p <= alpha && difference < -margin;
  return { significant, p, difference, tasks: strata.length, resamples: counted };
}

/** Both runs' scores of one task. */
interface Stratum {
  scores: Float64Array;
  total: number;
  /** The smaller run's replicas are drawn; the others are the rest. */
  drawn: number;
  drawnIsSecond: boolean;
  seen: number;
  content: string;
}

function stratumOf([first, second]: [readonly number[], readonly number[]]): Stratum {
  const scores = Float64Array.from([...first, ...second]).sort();
  const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
  return {
    scores,
    total: sum(scores),
    drawn: Math.min(first.length, second.length),
    drawnIsSecond: second.length <= first.length,
    seen: sum(second) / second.length - sum(first) / first.length,
    content: `${first.length} ${second.length} ${scores.join(" ")}`,
  };
}

/** An order that does not depend on the tasks' own. */
function byContent(a: Stratum, b: Stratum): number {
  if (a.content === b.content) return 0;
  return a.content < b.content ? -1 : 1;
}

/** The task's difference under a random labelling: the first places of a partial Fisher-Yates shuffle are the smaller run. */
function relabelled({ scores, total, drawn, drawnIsSecond }: Stratum, random: Random): number {
  const { length } = scores;
  let sum = 0;
  for (let place = 0; place < drawn; place += 1) {
    const other = place + random.below(length - place);
    const score = scores[other] ?? 0;
    scores[other] = scores[place] ?? 0;
    scores[place] = score;
    sum += score;
  }
  const apart = sum / drawn - (total - sum) / (length - drawn);
  return drawnIsSecond ? apart : -apart;
}
