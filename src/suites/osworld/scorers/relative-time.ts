/** OSWorld's `rule_relativeTime`: the dates that mean some months later, as the published program computes them. */
import { z } from "zod";
import { defineScorer, fault, given, type Outcome } from "../../scorer.js";

const distances = { "first monday four months later": 4, "first monday eight months later": 8 } as const;

const input = z.strictObject({
  when: z.enum(Object.keys(distances) as [keyof typeof distances, keyof typeof distances]),
  /** The present. */
  year: z.number().int().min(1).max(9998),
  month: z.number().int().min(1).max(12),
});
type Input = z.output<typeof input>;

/** A date as `YYYY-MM-DD`. */
function firstMonday(year: number, month: number): string {
  const first = new Date(0);
  first.setUTCFullYear(year, month - 1, 1);
  const day = 1 + ((8 - first.getUTCDay()) % 7);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
}

/** December is month 0 of the remainder and raises, in August for four months and in April for eight. */
function faithful({ when, year, month }: Input): Outcome<string> {
  const distance = distances[when];
  const next = (month + distance) % 12;
  if (next === 0) return fault("ValueError", "month must be in 1..12");
  return given(firstMonday(month + distance > 12 ? year + 1 : year, next));
}

function strict({ when, year, month }: Input): Outcome<string> {
  const months = month - 1 + distances[when];
  return given(firstMonday(year + Math.floor(months / 12), (months % 12) + 1));
}

export const osworldRelativeTime = defineScorer({
  name: "osworld.relative_time",
  version: 1,
  input,
  score: { faithful, strict },
});
