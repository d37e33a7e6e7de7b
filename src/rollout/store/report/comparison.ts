/** A comparison for people. */
import { type Comparison, sentence, type TaskComparison } from "../compare.js";
import { forestPlot } from "./forest.js";
import { interval, type MarkdownColumn, markdownTable, plain, score, signed } from "./markdown.js";

const columns: readonly MarkdownColumn<TaskComparison>[] = [
  { title: "task", cell: ({ task }) => plain(task) },
  { title: "A", right: true, cell: ({ score_a }) => score(score_a) },
  { title: "B", right: true, cell: ({ score_b }) => score(score_b) },
  { title: "B − A", right: true, cell: ({ difference }) => signed(difference) },
  { title: "95 %", cell: ({ ci }) => interval(ci, signed) },
  { title: "replicas A, B", right: true, cell: ({ n_a, n_b }) => `${n_a}, ${n_b}` },
  {
    title: "ungraded A, B",
    right: true,
    cell: ({ ungraded_a, ungraded_b }) => `${ungraded_a}, ${ungraded_b}`,
  },
];

/** The answer in one sentence. */
export function conclusion({ regression, alpha, margin }: Comparison): string {
  const { p, difference, significant } = regression;
  if (p === null || difference === null)
    return "Nothing can be said: no task has a graded replica in both runs.";
  const allowed = margin > 0 ? `, with a drop of ${margin} allowed` : "";
  return `${significant ? "B is worse than A" : "No significant regression"}: difference ${signed(difference)}, one-sided p ${p.toFixed(4)} against ${alpha}${allowed}.`;
}

/** What stands beside it: the interval, conditions that differ, tasks of one run only. */
export function notes({ paired, differences, only_a, only_b }: Comparison): string[] {
  const { bootstrap, t, leftOut, reason } = paired;
  return [
    `Mean difference over ${paired.tasks} tasks: ${signed(paired.difference)}; 95 % interval for tasks like these ${interval(bootstrap, signed)} (bootstrap), ${interval(t?.ci ?? null, signed)} (Student).`,
    ...(reason === null ? [] : [`${reason.slice(0, 1).toUpperCase()}${reason.slice(1)}.`]),
    ...(leftOut > 0 ? [`${leftOut} tasks have no graded replica in one of the runs, and are left out.`] : []),
    ...(only_a.length > 0 ? [`Only in A: ${only_a.join(", ")}.`] : []),
    ...(only_b.length > 0 ? [`Only in B: ${only_b.join(", ")}.`] : []),
    ...differences.map((one) => `Played under unequal conditions, as was allowed: ${sentence(one)}.`),
  ];
}

export function comparisonMarkdown(comparison: Comparison): string {
  const side = (name: "a" | "b"): string => {
    const { run, operator, model, provenance, status } = comparison[name];
    return `- ${name.toUpperCase()}: ${plain(run)}, ${plain(model ?? operator)}, ${plain(provenance)}, ${status}`;
  };
  return [
    "# Comparison of two runs",
    "",
    side("a"),
    side("b"),
    "",
    `**${conclusion(comparison)}**`,
    "",
    ...notes(comparison).flatMap((note) => [plain(note), ""]),
    ...markdownTable(comparison.tasks, columns),
    "",
  ].join("\n");
}

export function comparisonSvg(comparison: Comparison): string {
  const { tasks, paired } = comparison;
  return forestPlot({
    title: "Difference in score, B − A, with 95 % intervals",
    axis: "left: B is worse; right: B is better",
    from: -1,
    to: 1,
    reference: 0,
    rows: [
      ...tasks.map(({ task, difference, ci, n_a, n_b }) => ({
        label: task,
        note: `${n_a}, ${n_b}`,
        value: difference,
        ci,
      })),
      { label: `all ${paired.tasks} tasks`, value: paired.difference, ci: paired.bootstrap, total: true },
    ],
  });
}
