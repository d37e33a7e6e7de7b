import { mean, sumOf } from "../statistics/summary.js";
import { byTaskOf } from "./by-task.js";
import type { EpisodeCost } from "./cost.js";
import { dollarsOf, type PriceTable } from "./prices.js";

export interface Spending {
  /** Of all episodes that counted them, ungraded ones too: they were paid for. Null where none did. */
  tokens_in: number | null;
  tokens_out: number | null;
  /** Episodes whose tokens nobody counted. */
  uncounted: number;
  /** US dollars of the episodes that have a price; null where none has. */
  dollars: number | null;
  /** Mean over tasks of the dollars of one episode. */
  dollars_per_task: number | null;
  /** All dollars over the number of passed episodes: what one success costs; null without a success. */
  dollars_per_pass: number | null;
  /** Models that the price table does not have; their episodes are not in the dollars. */
  unpriced_models: string[];
  /** Day of the price table; null where there was none. */
  prices_as_of: string | null;
}

/** Tokens, and what they cost. */
export function spendingOf(episodes: readonly EpisodeCost[], prices: PriceTable | null): Spending {
  const counted = episodes.filter(({ tokensIn, tokensOut }) => tokensIn !== null && tokensOut !== null);
  const unpriced = new Set<string>();
  const priced = counted.flatMap((episode) => {
    const { task, score, model } = episode;
    const dollars = episode.dollars ?? billed(episode, prices);
    if (dollars === null && model !== null) unpriced.add(model);
    return dollars === null ? [] : [{ task, score, dollars }];
  });
  const dollars = priced.length === 0 ? null : sumOf(priced.map((one) => one.dollars));
  const tasks = [...byTaskOf(priced).values()];
  const passes = priced.filter(({ score }) => score === 1).length;
  return {
    tokens_in: counted.length === 0 ? null : sumOf(counted.map(({ tokensIn }) => tokensIn ?? 0)),
    tokens_out: counted.length === 0 ? null : sumOf(counted.map(({ tokensOut }) => tokensOut ?? 0)),
    uncounted: episodes.length - counted.length,
    dollars,
    dollars_per_task: mean(tasks.map((of) => mean(of.map((one) => one.dollars)) ?? 0)),
    dollars_per_pass: dollars === null || passes === 0 ? null : dollars / passes,
    unpriced_models: [...unpriced].sort(),
    prices_as_of: prices?.as_of ?? null,
  };
}

function billed({ model, tokensIn, tokensOut }: EpisodeCost, prices: PriceTable | null): number | null {
  if (prices === null || model === null) return null;
  return dollarsOf(prices, model, tokensIn ?? 0, tokensOut ?? 0);
}
