import type { EvaluationReport } from "./report.js";
import { headingOf, summaryLines, taskColumns } from "./scorecard.js";

/** The report as a Markdown page: the scorecard's table, a picture of the intervals if there is one, and the summary as a list. */
export function renderMarkdown(report: EvaluationReport, picture?: string): string {
  const columns = taskColumns(report);
  const row = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  const lines = [
    `# ${escaped(headingOf(report, "Evaluation"))}`,
    "",
    row(columns.map(({ title }) => title)),
    row(columns.map(({ right }) => (right === true ? "--:" : "---"))),
    ...report.tasks.map((task) => row(columns.map(({ cell }) => cell(task)))),
    "",
    ...(picture === undefined ? [] : [`![Intervals of the tasks](${encodeURI(picture)})`, ""]),
    ...summaryLines(report).map((line) => `- ${escaped(line)}`),
    "",
  ];
  return lines.join("\n");
}

/** Names and reasons come from tasks and guests: none of them ends a cell or makes a tag. */
function escaped(text: string): string {
  return text.replace(/[\\|<>`*_[\]]/g, (sign) => `\\${sign}`).replace(/\s*\n\s*/g, " ");
}
