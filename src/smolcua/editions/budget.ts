/** Points: every pass has the same budget, shared among categories by weight, and within a category equally among its questions. */
import { type Category, categories, type Question } from "../questions/types.js";
import { grouped } from "./select.js";

/** Points of one pass. */
export const passPoints = 100;

/**
 * Points of a category in a pass. Nothing was measured that would make one category worth more than another: these are
 * declared as uncalibrated, and equal.
 */
export function equalBudget(among: readonly Category[] = categories): Partial<Record<Category, number>> {
  return Object.fromEntries(among.map((category) => [category, passPoints / among.length]));
}

/** The relative error that a sum of points may have. */
const rounding = 1e-9;

/**
 * Points of each question, by its id.
 * Throws a RangeError where a budget is not of the categories that are there, or a pass does not come to its points.
 */
export function pointsOf(
  questions: readonly Question[],
  budget: Partial<Record<Category, number>>,
): Map<string, number> {
  const strata = grouped(questions, ({ category, pass }) => `${category} ${pass}`);
  const points = new Map<string, number>();
  for (const stratum of strata.values())
    for (const { id, category } of stratum) {
      const share = budget[category];
      if (share === undefined) throw new RangeError(`the category ${category} has no points`);
      points.set(id, share / stratum.length);
    }
  for (const [pass, own] of grouped(questions, (question) => question.pass)) {
    const sum = own.reduce((total, { id }) => total + (points.get(id) ?? 0), 0);
    if (Math.abs(sum - passPoints) > passPoints * rounding)
      throw new RangeError(`the questions of pass ${pass} come to ${sum} points and not to ${passPoints}`);
  }
  return points;
}
