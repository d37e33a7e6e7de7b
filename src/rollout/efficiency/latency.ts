import { quantile, sumOf } from "../statistics/summary.js";
import type { EpisodeCost, StepTime } from "./cost.js";

export const timeParts = ["model", "guest", "harness", "judge", "unsplit"] as const;
export type TimePart = (typeof timeParts)[number];

/** First steps of the ranges that latency is told by. Late steps take up to three times an early one (arXiv 2506.16042). */
const rangesFrom = [1, 2, 3, 6, 11, 21, 51, 101];

export interface LatencyRange {
  /** Steps of these indices, counted from 1; `to` is null in the last range. */
  from: number;
  to: number | null;
  steps: number;
  /** Host milliseconds: median of each part over the steps that tell it; null where none does. */
  p50_ms: Record<TimePart, number | null>;
  /** Median of the whole step: of the parts that are told. */
  total_p50_ms: number | null;
}

export interface Latency {
  by_step: LatencyRange[];
  /** Share of all the time that steps took, by part; null of a part that nobody told, and where nothing was told. */
  share: Record<TimePart, number | null> | null;
  /** Median total of steps of the last range over that of the first; null with one range. */
  late_over_early: number | null;
  reset_p50_ms: number | null;
  grade_p50_ms: number | null;
}

/** Where time went, by the index of the step. Ungraded episodes took time as well, and are counted in. */
export function latencyOf(episodes: readonly EpisodeCost[]): Latency {
  const ranges = rangesFrom.map((from, index) => ({ from, to: (rangesFrom[index + 1] ?? 0) - 1 }));
  const by_step = ranges.flatMap(({ from, to }) => {
    const times = episodes.flatMap((episode) => episode.times.slice(from - 1, to < from ? undefined : to));
    return times.length === 0 ? [] : [rangeOf(times, from, to < from ? null : to)];
  });
  const all = episodes.flatMap(({ times }) => times);
  const sums = partsOf((part) => {
    const times = told(all, part);
    return times.length === 0 ? null : sumOf(times);
  });
  const total = sumOf(Object.values(sums).map((sum) => sum ?? 0));
  const [first, last] = [by_step[0], by_step.at(-1)];
  const early = first?.total_p50_ms ?? 0;
  const late = last?.total_p50_ms ?? null;
  return {
    by_step,
    share: total > 0 ? partsOf((part) => shareOf(sums[part], total)) : null,
    late_over_early: by_step.length > 1 && early > 0 && late !== null ? late / early : null,
    reset_p50_ms: quantile(
      episodes.map(({ resetMs }) => resetMs),
      0.5,
    ),
    grade_p50_ms: quantile(
      episodes.map(({ gradeMs }) => gradeMs),
      0.5,
    ),
  };
}

function rangeOf(times: readonly StepTime[], from: number, to: number | null): LatencyRange {
  const totals = times.flatMap((time) => {
    const parts = timeParts.flatMap((part) => time[part] ?? []);
    return parts.length === 0 ? [] : [sumOf(parts)];
  });
  return {
    from,
    to,
    steps: times.length,
    p50_ms: partsOf((part) => quantile(told(times, part), 0.5)),
    total_p50_ms: quantile(totals, 0.5),
  };
}

const shareOf = (sum: number | null, total: number): number | null => (sum === null ? null : sum / total);

const told = (times: readonly StepTime[], part: TimePart): number[] =>
  times.flatMap((time) => time[part] ?? []);

function partsOf<T>(value: (part: TimePart) => T): Record<TimePart, T> {
  return {
    model: value("model"),
    guest: value("guest"),
    harness: value("harness"),
    judge: value("judge"),
    unsplit: value("unsplit"),
  };
}
