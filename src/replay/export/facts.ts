/** Columns that every format has: whose episode it was, and what it was worth. */
import type { SessionFacts } from "../format/channels.js";
import { type Columns, jsonText, type Row, wholeNumber } from "./columns.js";
import type { Episode } from "./episode.js";

/** `labels` is a name that trainers keep for themselves. */
export const factColumns = {
  episode: "text",
  task: "text",
  task_version: "text",
  verifier: "text",
  task_set: "text",
  variant: "text",
  params: "json",
  seed: "int",
  run: "text",
  group: "text",
  replica: "int",
  operator: "text",
  model: "text",
  episode_labels: "json",
  parent_episode: "text",
  parent_step: "int",
  status: "text",
  score: "float",
  passed: "bool",
  verdict_from: "text",
  steps: "int",
  runtime: "text",
} as const satisfies Columns;

/** `status` is `ungraded` also where nobody asked for a verdict; a score is never made up. */
export function factsOf({ session, verdict, steps }: Episode): Row {
  const { labels, parent } = session;
  const decided = steps.findLast(({ decision }) => decision?.model !== undefined)?.decision?.model;
  return {
    episode: session.episode,
    task: session.task,
    task_version: session.task_version,
    verifier: verdict?.verifier ?? session.verifier,
    task_set: session.task_set,
    variant: session.variant,
    params: jsonText(session.params),
    seed: wholeNumber(session.seed),
    run: label(labels, "run"),
    group: label(labels, "group"),
    replica: wholeNumber(labels["replica"]),
    operator: label(labels, "operator"),
    model: decided ?? label(labels, "model"),
    episode_labels: jsonText(labels),
    parent_episode: parent?.episode ?? null,
    parent_step: parent?.step ?? null,
    status: verdict?.status ?? "ungraded",
    score: scoreOf(verdict),
    passed: verdict?.status === "graded" ? verdict.passed : null,
    verdict_from: verdict?.from ?? null,
    steps: steps.length,
    runtime: session.runtime,
  };
}

/** What a trainer takes for the episode's reward: null, never 0, where it was not graded. */
export function scoreOf(verdict: Episode["verdict"]): number | null {
  return verdict?.status === "graded" ? verdict.score : null;
}

function label(labels: SessionFacts["labels"], name: string): string | null {
  return Object.hasOwn(labels, name) ? String(labels[name]) : null;
}
