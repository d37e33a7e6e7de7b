/** A leaderboard for people: a section for each task set, since scores of different tasks have no order. */
import { type LeaderboardRow, unequalConditions } from "../leaderboard.js";
import { type ScoreProvenance, unknownTaskSet } from "../types.js";
import { type ForestPlot, forestPlot } from "./forest.js";
import { interval, type MarkdownColumn, markdownTable, plain, score } from "./markdown.js";

const provenanceWords: Readonly<Record<ScoreProvenance, string>> = {
  recorded: "recorded here",
  regraded: "re-graded",
  self_reported: "self-reported",
};

/** A recorded score that came here in a bundle was recorded by whoever wrote that. */
export function provenanceOf({ provenance, source }: Pick<LeaderboardRow, "provenance" | "source">): string {
  return provenance === "recorded" && source === "imported"
    ? "recorded, imported"
    : provenanceWords[provenance];
}

/** Who played. */
export function playerOf({
  operator,
  model,
  revision,
}: Pick<LeaderboardRow, "operator" | "model" | "revision">): string {
  return [model ?? operator, ...(revision === null ? [] : [`@${revision}`])].join(" ");
}

const columns: readonly MarkdownColumn<LeaderboardRow>[] = [
  { title: "run", cell: ({ run }) => plain(run.slice(0, 8)) },
  { title: "player", cell: (row) => plain(playerOf(row)) },
  { title: "scaffold", cell: ({ scaffold }) => plain(scaffold ?? "–") },
  { title: "score from", cell: provenanceOf },
  { title: "score", right: true, cell: ({ score_mean }) => score(score_mean) },
  { title: "95 %", cell: ({ score_ci }) => interval(score_ci, score) },
  {
    title: "passed",
    right: true,
    cell: ({ passed, judged }) => (judged === 0 ? "–" : `${passed}/${judged}`),
  },
  { title: "tasks", right: true, cell: ({ tasks }) => String(tasks) },
  { title: "replicas", right: true, cell: ({ n }) => String(n) },
  { title: "ungraded", right: true, cell: ({ ungraded, missing }) => String(ungraded + missing) },
  {
    title: "steps",
    right: true,
    cell: ({ steps_mean }) => (steps_mean === null ? "–" : steps_mean.toFixed(1)),
  },
  { title: "dollars", right: true, cell: ({ dollars }) => (dollars === null ? "–" : dollars.toFixed(2)) },
  { title: "graded by", cell: ({ graded_by }) => plain(graded_by) },
];

export function leaderboardMarkdown(rows: readonly LeaderboardRow[]): string {
  return sectionsOf(rows)
    .map(([taskSet, section]) =>
      [
        `## Task set ${plain(taskSet.slice(0, 16))}`,
        "",
        ...markdownTable(section, columns),
        "",
        "Scores are means over tasks of the means over graded replicas; what was not graded is counted beside, never as 0.",
        ...remarks(section),
        "",
      ].join("\n"),
    )
    .join("\n");
}

/** What keeps lines of a section from being comparable. */
export function remarks(section: readonly LeaderboardRow[]): string[] {
  const unequal = unequalConditions(section);
  const unknown = section.some(({ task_set }) => task_set === unknownTaskSet);
  return [
    ...(unknown ? ["Which task set these are of is not known: lines may be of different tasks."] : []),
    ...(unequal.length > 0 ? [`Not all lines are comparable: they differ in ${unequal.join(", ")}.`] : []),
  ];
}

export function sectionsOf(rows: readonly LeaderboardRow[]): [taskSet: string, rows: LeaderboardRow[]][] {
  const sections = new Map<string, LeaderboardRow[]>();
  for (const row of rows) sections.set(row.task_set, [...(sections.get(row.task_set) ?? []), row]);
  return [...sections];
}

/** Lines of one or more task sets, below each other as they stand in the tables. */
export function leaderboardSvg(rows: readonly LeaderboardRow[]): string {
  const plot: ForestPlot = {
    title: "Score and 95 % interval of each run",
    axis: "mean score over tasks",
    from: 0,
    to: 1,
    rows: rows.map((row) => ({
      label: playerOf(row),
      note: provenanceOf(row),
      value: row.score_mean,
      ci: row.score_ci,
    })),
  };
  return forestPlot(plot);
}
