import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { defaultResamples } from "./bootstrap.js";
import { defaultConfidence } from "./share.js";

/** Limits of one reading: what fits memory and comes back within seconds. */
export const statisticsLimits = {
  tasks: 100_000,
  /** Of all tasks together, ungraded ones too. */
  replicas: 2_000_000,
  tries: 1_000_000,
  resamples: 100_000,
  /** Of the text. */
  bytes: 64 * 1024 * 1024,
} as const;

/** Scores of one task's replicas, from 0 to 1; null is ungraded. */
export type TaskScores = readonly (number | null)[];

const limits = statisticsLimits;

/** Replicas are looked at one by one below: a complaint about each of a million would take the memory of the process. */
const inputSchema = z.strictObject({
  tasks: z.array(z.array(z.unknown())).min(1),
  k: z.int().min(1).max(limits.tries).default(1),
  confidence: z.number().gt(0).lt(1).default(defaultConfidence),
  seed: z.int().min(0).default(0),
  resamples: z.int().min(1).max(limits.resamples).default(defaultResamples),
});

export interface StatisticsInput {
  tasks: readonly TaskScores[];
  /** Tries of pass@k and pass^k. */
  k: number;
  confidence: number;
  seed: number;
  resamples: number;
}

/** Parses what `shinken stats` reads; `bad_request` with the path of what is wrong, `too_large` beyond a limit. */
export function parseStatisticsInput(value: unknown): StatisticsInput {
  const parsed = parseOrThrow(inputSchema, value, "bad_request");
  tooMany("tasks", parsed.tasks.length, limits.tasks);
  tooMany(
    "replicas",
    parsed.tasks.reduce((sum, { length }) => sum + length, 0),
    limits.replicas,
  );
  return { ...parsed, tasks: parsed.tasks.map((scores, task) => scoresOf(scores, task)) };
}

function tooMany(what: string, count: number, most: number): void {
  if (count > most)
    throw new ShinkenError("too_large", `tasks: ${count} ${what} are more than ${most}`, { path: "tasks" });
}

function scoresOf(scores: readonly unknown[], task: number): TaskScores {
  return scores.map((score, replica) => {
    if (score === null || (typeof score === "number" && score >= 0 && score <= 1)) return score;
    const path = `tasks[${task}][${replica}]`;
    throw new ShinkenError(
      "bad_request",
      `${path}: must be a score from 0 to 1, or null for an ungraded replica`,
      { path, suggestion: suggestionFor(score) },
    );
  });
}

function suggestionFor(score: unknown): string | undefined {
  if (typeof score === "boolean") return `write ${score ? 1 : 0} for ${score}`;
  if (typeof score === "string") return "a score is a number, without quotes";
  if (typeof score === "number" && score > 1 && score <= 100) return `${score} %? Write ${score / 100}`;
  return undefined;
}
