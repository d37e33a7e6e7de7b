import type { EvaluationReport } from "./report.js";

/** Pixels. */
const rowHeight = 22;
const nameWidth = 220;
const plotWidth = 400;
const margin = 16;
const head = 36;

/** Each task's share of passes with its 95 % interval, one a row, as an SVG picture. */
export function intervalsSvg(report: EvaluationReport): string {
  const height = head + report.tasks.length * rowHeight + margin;
  const width = nameWidth + plotWidth + 2 * margin;
  const x = (share: number): string => (nameWidth + margin + share * plotWidth).toFixed(1);
  const figure = report.best_of === null ? "pass@1" : `best of ${report.best_of.n}`;
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${x(share)}" x2="${x(share)}" y1="${head - 8}" y2="${height - margin}" stroke="#ddd"/><text x="${x(share)}" y="${head - 14}" text-anchor="middle">${share}</text>`,
  );
  const rows = report.tasks.map((task, index) => {
    const y = head + index * rowHeight + rowHeight / 2;
    const share = task.pass_at_1 ?? task.best_of_n;
    const [low, high] = task.ci;
    const name = `<text x="${nameWidth}" y="${y + 4}" text-anchor="end">${escaped(task.id)}</text>`;
    if (share === null) return `${name}<text x="${x(0)}" y="${y + 4}" fill="#a00">ungraded</text>`;
    return `${name}<line x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}" stroke="#36c" stroke-width="2"/><circle cx="${x(share)}" cy="${y}" r="4" fill="#36c"/>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(`${figure} of ${report.operator}, with 95 % intervals`)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...grid,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
}
