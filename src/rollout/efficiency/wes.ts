import { mean, sumOf } from "../statistics/summary.js";
import { byTaskOf } from "./by-task.js";
import type { EfficiencyTask, EpisodeCost } from "./cost.js";

/** Weighted Efficiency Score of a task set (OSWorld-Human, arXiv 2506.16042). */
export interface WeightedEfficiency {
  /** Mean over tasks of score * human steps / steps, human actions counted singly; null where no task has it. */
  wes_plus_single: number | null;
  /** The same with actions grouped that need no new observation. */
  wes_plus_grouped: number | null;
  /** Mean over tasks of -(1 - score) * steps / limit. */
  wes_minus: number | null;
  /** Mean over tasks of steps / human steps in passed episodes: how many times the human's steps. */
  steps_over_human: number | null;
  /** Tasks that are in no figure since none of their episodes was graded. */
  ungraded_tasks: string[];
  /** Tasks of the set that nobody played: they add 0 and are counted in, as the published scorer has it. */
  unplayed_tasks: string[];
  /** Tasks without human steps: not in WES+. */
  without_human: string[];
  /** Tasks whose graded episodes all have no step: not in WES+, which divides by the steps (the published scorer divides by 0). */
  without_steps: string[];
  /** Tasks with an episode above 1: the human's steps were not the fewest, or a check is lenient. */
  above_one: string[];
}

const passedScore = 1;

/**
 * Works out WES of a set. A task's figure is the mean over its graded episodes; the set's is that of tasks, each with the same weight. The
 * limit is the task's own, or the longest trajectory of the set if that is longer or there is none.
 */
export function weightedEfficiency(
  tasks: readonly EfficiencyTask[],
  episodes: readonly EpisodeCost[],
): WeightedEfficiency {
  const longest = episodes.reduce((most, { steps }) => Math.max(most, steps), 0);
  const [single, grouped, minus, over]: [number[], number[], number[], number[]] = [[], [], [], []];
  const lists = {
    ungraded_tasks: [] as string[],
    unplayed_tasks: [] as string[],
    without_human: [] as string[],
    without_steps: [] as string[],
    above_one: [] as string[],
  };
  const byTask = byTaskOf(episodes);
  for (const { id, human } of tasks) {
    const played = byTask.get(id) ?? [];
    const graded = played.flatMap((episode) =>
      episode.score === null ? [] : [{ ...episode, score: episode.score }],
    );
    if (human === null) lists.without_human.push(id);
    if (graded.length === 0) {
      (played.length === 0 ? lists.unplayed_tasks : lists.ungraded_tasks).push(id);
      if (played.length > 0) continue;
      minus.push(0);
      if (human !== null) single.push(0);
      if (human !== null && human.grouped !== null) grouped.push(0);
      continue;
    }
    minus.push(
      (-sumOf(
        graded.map(({ score, steps, stepLimit }) => {
          const limit = Math.max(stepLimit ?? 0, longest);
          return limit === 0 ? 0 : ((1 - score) * steps) / limit;
        }),
      ) || 0) / graded.length,
    );
    if (human === null) continue;
    const moved = graded.filter(({ steps }) => steps > 0);
    if (moved.length === 0) {
      lists.without_steps.push(id);
      continue;
    }
    const plus = (h: number): number => mean(moved.map(({ score, steps }) => (score * h) / steps)) ?? 0;
    single.push(plus(human.single));
    if (human.grouped !== null) grouped.push(plus(human.grouped));
    if (moved.some(({ score, steps }) => score * human.single > steps)) lists.above_one.push(id);
    const passed = moved.filter(({ score }) => score === passedScore);
    if (passed.length > 0) over.push(mean(passed.map(({ steps }) => steps / human.single)) ?? 0);
  }
  return {
    wes_plus_single: mean(single),
    wes_plus_grouped: mean(grouped),
    wes_minus: mean(minus),
    steps_over_human: mean(over),
    ...lists,
  };
}
