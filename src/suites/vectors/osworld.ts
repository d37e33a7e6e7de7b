/** OSWorld's executed quirks: each row names the function that was run. */
import { z } from "zod";
import { json } from "../../verifiers/assertions/json-value.js";
import { osworldLists } from "../osworld/scorers/lists.js";
import { osworldRelativeTime } from "../osworld/scorers/relative-time.js";
import { faultText, type Profile } from "../scorer.js";

const relative = "rule_relativeTime ";
const whens = ["first monday four months later", "first monday eight months later"] as const;

const lists = z.strictObject({
  fn: z.literal("are_lists_equal"),
  a: z.array(json),
  b: z.array(json),
  result: z.boolean(),
});

const time = z.strictObject({
  fn: z.enum(whens.map((when) => `${relative}${when}` as const)),
  month: z.number().int(),
  year: z.number().int().optional(),
  /** The exception; or the date, or the month alone where the row has no year. */
  result: z.union([z.string(), z.number()]),
});

const row = z.discriminatedUnion("fn", [lists, time]);
type Row = z.output<typeof row>;

/** Any will do where only the month is asked. */
const SOME_YEAR = 2026;

function run(one: Row, profile: Profile): { expected: unknown; got: unknown } {
  if (one.fn === "are_lists_equal") {
    return { expected: one.result, got: osworldLists[profile].score({ a: one.a, b: one.b }).value };
  }
  const when = one.fn.slice(relative.length);
  const outcome = osworldRelativeTime[profile].score({ when, year: one.year ?? SOME_YEAR, month: one.month });
  if (outcome.fault !== undefined) return { expected: one.result, got: faultText(outcome.fault) };
  return {
    expected: one.result,
    got: one.year === undefined ? Number(outcome.value.slice(5, 7)) : outcome.value,
  };
}

export const osworldTable = {
  row,
  run: (given: unknown, profile: Profile) => run(given as Row, profile),
};
