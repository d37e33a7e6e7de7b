/** TheAgentCompany: points of checkpoints, by one of its strategies, and the partial credit that they are worth. */
import { z } from "zod";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";

/** Python's whole numbers, which the published program reads, have no negative zero. */
const pointCount = z.number().transform((value) => value + 0);
const creditInput = z.strictObject({ total: pointCount, result: pointCount });
type Points = z.output<typeof creditInput>;

/** Half for the share of points, half for all of them; more points than there are pay the second half again and again. */
function faithfulCredit({ total, result }: Points): Outcome<number> {
  if (total === 0) return fault("ZeroDivisionError", "division by zero");
  return given((result / total) * 0.5 + Math.floor(result / total) * 0.5);
}

/** Refuses points that cannot be. */
function strictCredit({ total, result }: Points): Outcome<number> {
  const sensible = Number.isInteger(total) && Number.isInteger(result) && total > 0 && result >= 0;
  if (!sensible || result > total) return fault("ValueError", `${result} of ${total} points cannot be`);
  return given((result / total) * 0.5 + (result === total ? 0.5 : 0));
}

export const tacCredit = defineScorer({
  name: "tac.credit",
  version: 1,
  input: creditInput,
  score: { faithful: faithfulCredit, strict: strictCredit },
  reward: unit,
});

const pointsInput = z.strictObject({
  /** A strategy's name; the last has the numbers of its checkpoints, from 1, behind it: `...([3, 4])`. */
  strategy: z.string(),
  /** Points earned and points to earn, one pair a checkpoint. */
  checkpoints: z.array(z.tuple([z.number(), z.number()])),
});
type Checkpoints = readonly (readonly [result: number, total: number])[];

const listed = /^bonus_for_completing_any_of_given_checkpoints\(\s*\[([^\]]*)\]\s*\)$/;

/** Whose full points pay for others, and for which. */
type Bonus = { full: (checkpoints: Checkpoints) => Outcome<boolean>; pays: "all" | "first" };

const complete = ([result, total]: Checkpoints[number]): boolean => result === total;

const bonuses: Record<string, Bonus | undefined> = {
  default: { full: () => given(false), pays: "first" },
  bonus_for_completing_final: {
    full: (checkpoints) => given(checkpoints.length > 0 && complete(checkpoints.at(-1) ?? [0, 1])),
    pays: "all",
  },
  bonus_for_completing_any: { full: (checkpoints) => given(checkpoints.some(complete)), pays: "first" },
};

function bonusOf(strategy: string): Bonus | undefined {
  const named = Object.hasOwn(bonuses, strategy) ? bonuses[strategy] : undefined;
  if (named !== undefined) return named;
  const list = listed.exec(strategy)?.[1];
  if (list === undefined) return undefined;
  const numbers = list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  if (!numbers.every((part) => /^-?\d{1,9}$/.test(part))) return undefined;
  return {
    full: (checkpoints) => {
      if (checkpoints.length === 0) return given(false);
      const chosen = numbers.map((part) => checkpoints.at(Number(part) - 1));
      if (chosen.includes(undefined)) return fault("IndexError", "list index out of range");
      return given(chosen.some((one) => one !== undefined && complete(one)));
    },
    pays: "first",
  };
}

/** What the published data class refuses, in its order and words. */
function refuse(checkpoints: Checkpoints): { fault: { kind: string; message: string } } | undefined {
  for (const [result, total] of checkpoints) {
    const notInteger: [string, number] | undefined = !Number.isInteger(total)
      ? ["total", total]
      : !Number.isInteger(result)
        ? ["result", result]
        : undefined;
    if (notInteger !== undefined) {
      return fault("TypeError", `${notInteger[0]} must be an integer, got <class 'float'>`);
    }
    if (total < 0) return fault("ValueError", `total cannot be negative, got ${total}`);
    if (result < 0) return fault("ValueError", `result cannot be negative, got ${result}`);
    if (result > total) {
      return fault("ValueError", `result (${result}) cannot be greater than total (${total})`);
    }
  }
  return undefined;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

function points({ strategy, checkpoints }: z.output<typeof pointsInput>): Outcome<Points> {
  const bonus = bonusOf(strategy);
  if (bonus === undefined) return fault("NameError", `name '${strategy}' is not defined`);
  const refused = refuse(checkpoints);
  if (refused !== undefined) return refused;
  const full = bonus.full(checkpoints);
  if (full.fault !== undefined) return full;
  const total = sum(checkpoints.map((one) => one[1]));
  if (full.value && bonus.pays === "all") return given({ total, result: total });
  const [first, ...rest] = checkpoints;
  const paid = first === undefined ? 0 : full.value ? first[1] : first[0];
  return given({ total, result: paid + sum(rest.map((one) => one[0])) });
}

/** A checkpoint without points is complete by being there: it pays no bonus, and a task without points is none. */
function strictPoints(input: z.output<typeof pointsInput>): Outcome<Points> {
  if (input.checkpoints.some(([, total]) => total <= 0)) {
    return fault("ValueError", "every checkpoint needs at least one point");
  }
  return input.checkpoints.length === 0
    ? fault("ValueError", "a task needs at least one checkpoint")
    : points(input);
}

export const tacStrategy = defineScorer({
  name: "tac.strategy",
  version: 1,
  input: pointsInput,
  score: { faithful: points, strict: strictPoints },
  reward: ({ total, result }) => strictCredit({ total, result }).value,
});
