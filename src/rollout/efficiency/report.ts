import { type Column, renderTable } from "../table.js";
import { type Behaviour, type BlindPursuit, behaviourOf, blindPursuitOf } from "./behaviour.js";
import type { EfficiencyTask, EpisodeCost } from "./cost.js";
import { type Latency, type LatencyRange, latencyOf, timeParts } from "./latency.js";
import type { PriceTable } from "./prices.js";
import { type Spending, spendingOf } from "./spending.js";
import { type WeightedEfficiency, weightedEfficiency } from "./wes.js";

export interface Efficiency {
  steps: WeightedEfficiency;
  latency: Latency;
  spending: Spending;
  behaviour: Behaviour;
  blind_pursuit: BlindPursuit;
  /** Sentences on what looks wrong. */
  warnings: string[];
}

export interface EfficiencyInput {
  /** All tasks of the set, those without an episode too. */
  tasks: readonly EfficiencyTask[];
  episodes: readonly EpisodeCost[];
  /** For episodes that do not tell their dollars. */
  prices?: PriceTable | undefined;
}

/** All figures of what success cost; the names are those of JSON reports. */
export function efficiencyOf({ tasks, episodes, prices }: EfficiencyInput): Efficiency {
  const steps = weightedEfficiency(tasks, episodes);
  const spending = spendingOf(episodes, prices ?? null);
  const warnings: string[] = [];
  if (steps.above_one.length > 0)
    warnings.push(
      `fewer steps than a person's in ${steps.above_one.join(", ")}: the person's were not the fewest, or a check is lenient`,
    );
  if (steps.without_steps.length > 0)
    warnings.push(`no steps in ${steps.without_steps.join(", ")}: not in WES+`);
  if (spending.unpriced_models.length > 0)
    warnings.push(`no price of ${spending.unpriced_models.join(", ")}: not in the dollars`);
  return {
    steps,
    latency: latencyOf(episodes),
    spending,
    behaviour: behaviourOf(episodes),
    blind_pursuit: blindPursuitOf(episodes),
    warnings,
  };
}

const share = (value: number | null): string => (value === null ? "-" : value.toFixed(3));
const percent = (value: number | null): string => (value === null ? "-" : `${(100 * value).toFixed(1)} %`);
const milliseconds = (value: number | null): string => (value === null ? "-" : value.toFixed(1));
const dollars = (value: number | null): string => (value === null ? "-" : `$${value.toFixed(4)}`);

/** The figures as people read them in a terminal. */
export function renderEfficiency(found: Efficiency): string {
  const { latency } = found;
  const columns: Column<LatencyRange>[] = [
    {
      title: "steps",
      cell: ({ from, to }) => (to === from ? String(from) : to === null ? `${from}-` : `${from}-${to}`),
    },
    { title: "seen", right: true, cell: (range) => String(range.steps) },
    ...timeParts.map((part) => ({
      title: `${part} ms`,
      right: true,
      cell: ({ p50_ms }: LatencyRange) => milliseconds(p50_ms[part]),
    })),
    { title: "all ms", right: true, cell: ({ total_p50_ms }) => milliseconds(total_p50_ms) },
  ];
  const lines = [
    ...summaryOf(found),
    "",
    ...renderTable(latency.by_step, columns),
    ...found.warnings.map((warning) => `warning: ${warning}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** What was told, in a line each; nothing of what nobody told. */
export function efficiencyLines(found: Efficiency): string[] {
  const { steps, spending, behaviour, blind_pursuit: blind } = found;
  const [effort, cost, loops, pursuit] = summaryOf(found);
  return [
    steps.wes_plus_single !== null ? effort : undefined,
    spending.tokens_in !== null ? cost : undefined,
    behaviour.watched > 0 || behaviour.traced_steps > 0 ? loops : undefined,
    blind.episodes > 0 ? pursuit : undefined,
    ...found.warnings.map((warning) => `warning: ${warning}`),
  ].filter((line) => line !== undefined);
}

function summaryOf({ steps, spending, behaviour, blind_pursuit: blind }: Efficiency): string[] {
  const tokens = (count: number | null): string => (count === null ? "-" : String(count));
  return [
    `WES+ ${share(steps.wes_plus_single)} single, ${share(steps.wes_plus_grouped)} grouped   WES- ${share(steps.wes_minus)}   ${share(steps.steps_over_human)} times a person's steps where passed`,
    `tokens ${tokens(spending.tokens_in)} in, ${tokens(spending.tokens_out)} out   ${dollars(spending.dollars)}, ${dollars(spending.dollars_per_task)} a task, ${dollars(spending.dollars_per_pass)} a pass`,
    `loops ${percent(behaviour.loop_rate)} of ${behaviour.watched} episodes   no progress ${percent(behaviour.no_progress_rate)} of ${behaviour.traced_steps} steps`,
    `blind pursuit ${percent(blind.rate)} of ${blind.episodes} episodes: attempts ${percent(blind.attempted_rate)}, completions ${percent(blind.completed_rate)}; ${blind.unknown} of which no check tells, ${blind.ungraded} ungraded`,
  ];
}
