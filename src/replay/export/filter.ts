/** Which episodes an export takes, and why it leaves the others out. */
import picomatch from "picomatch";
import type { SessionFacts } from "../format/channels.js";
import { readEvents } from "../read/reader.js";
import type { Episode } from "./episode.js";

export interface ExportFilter {
  /** Of the verdict's score, inclusive. */
  minScore?: number | undefined;
  maxScore?: number | undefined;
  /** Only episodes whose verdict is passed. */
  passed?: boolean | undefined;
  /** Globs of task ids, any of them; `*` stops at a slash, `**` does not. */
  tasks?: readonly string[] | undefined;
  /** Globs of task versions, any of them. */
  taskVersions?: readonly string[] | undefined;
  /** Labels as text, all of them. */
  labels?: Readonly<Record<string, string>> | undefined;
  includeUngraded?: boolean | undefined;
  /** Also episodes of tasks that are for measuring only. */
  includeEval?: boolean | undefined;
}

/** Why an episode is left out. `no_steps`: nothing was done in it. `no_parent`: a branch whose beginning is not there. */
export const leftOutReasons = [
  "evaluation_only",
  "task",
  "task_version",
  "label",
  "ungraded",
  "not_passed",
  "score",
  "duplicate",
  "no_steps",
  "no_parent",
] as const;
export type LeftOut = (typeof leftOutReasons)[number];

/** Judges sessions before their episodes are read, which costs most. */
export function sessionFilter(filter: ExportFilter): (session: SessionFacts) => LeftOut | null {
  const task = matcher(filter.tasks);
  const version = matcher(filter.taskVersions);
  const labels = Object.entries(filter.labels ?? {});
  return (session) => {
    if (!task(session.task)) return "task";
    if (!version(session.task_version)) return "task_version";
    const { labels: told } = session;
    if (labels.some(([key, value]) => !Object.hasOwn(told, key) || String(told[key]) !== value))
      return "label";
    if (session.use === "eval" && filter.includeEval !== true) return "evaluation_only";
    return null;
  };
}

/** Judges by the verdict. An episode without a score fails every question about one. */
export function verdictFilter({ verdict }: Episode, filter: ExportFilter): LeftOut | null {
  const graded = verdict?.status === "graded";
  if (!graded && filter.includeUngraded !== true) return "ungraded";
  if (filter.passed === true && verdict?.passed !== true) return "not_passed";
  const { minScore, maxScore } = filter;
  if (minScore === undefined && maxScore === undefined) return null;
  const score = graded ? verdict.score : null;
  if (score === null || score < (minScore ?? 0) || score > (maxScore ?? 1)) return "score";
  return null;
}

/** The session of a bundle, without the rest of the file; null where it has none. Rejects as `readEvents`. */
export async function readSession(file: string): Promise<SessionFacts | null> {
  for await (const event of readEvents(file, { blobs: false })) {
    if (!("foreign" in event) && event.channel === "session") return event;
  }
  return null;
}

function matcher(globs: readonly string[] | undefined): (text: string) => boolean {
  return globs === undefined || globs.length === 0 ? () => true : picomatch([...globs], { dot: true });
}
