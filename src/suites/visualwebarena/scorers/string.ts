/** VisualWebArena's `string_match`. */
import { z } from "zod";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";
import { productOf, unjudged } from "../../webarena/scorers/product.js";
import { alternatives, approachesOf, cleanStrictly, standsIn } from "../../webarena/scorers/text.js";
import { clean, exactMatch, includes } from "./matching.js";
import { anySatisfied, anySatisfiedStrictly, decimalNumber, wholeNumber } from "./values.js";

const share = z.number().min(0).max(1);
const texts = z.array(z.string());

const input = z.strictObject({
  answer: z.string(),
  reference_answers: z.strictObject({
    exact_match: z.string().optional(),
    required_values: texts.optional(),
    must_include: texts.optional(),
    must_exclude: texts.optional(),
    one_of: texts.optional(),
    fuzzy_match: z.union([z.literal("N/A"), texts]).optional(),
  }),
  /** What a model judged beforehand: one score a fuzzy reference, in order. */
  judged: z.array(share).optional(),
  /** What a model made of the reason why the task cannot be done. */
  judged_unachievable: share.optional(),
});
type Input = z.output<typeof input>;

/** In the order in which the task names them: a required value turns the answer into a number for all that follow. */
function faithful(
  { answer, reference_answers, judged, judged_unachievable }: Input,
  raw: unknown,
): Outcome<number> {
  let said: string | bigint | undefined = clean(answer);
  let score = 1;
  const wrongType = (name: string): { fault: { kind: string; message: string } } =>
    fault("BeartypeCallHintParamViolation", `${name} takes text, and a required value made a number of it`);
  for (const approach of approachesOf(raw)) {
    if (approach === "required_values") {
      if (typeof said !== "string") return wrongType("str_2_int");
      const number = wholeNumber(said);
      said = number;
      if (number === undefined) score = 0;
      else {
        for (const one of reference_answers.required_values ?? []) {
          const outcome = anySatisfied(number, one);
          if (outcome.fault !== undefined) return outcome;
          score *= Number(outcome.value);
        }
      }
      continue;
    }
    if (approach === "exact_match") {
      if (said === undefined) return wrongType("exact_match");
      score *= Number(exactMatch(reference_answers.exact_match ?? "", String(said)));
      continue;
    }
    if (typeof said !== "string") return wrongType(approach);
    const text: string = said;
    if (approach === "must_include") {
      for (const one of reference_answers.must_include ?? []) {
        score *= Number(alternatives(one).some((part) => includes(part, text)));
      }
    }
    if (approach === "must_exclude") {
      for (const one of reference_answers.must_exclude ?? []) score *= Number(!includes(one, text));
    }
    if (approach === "one_of") {
      score *= Number((reference_answers.one_of ?? []).some((one) => text.includes(clean(one))));
    }
    if (approach !== "fuzzy_match") continue;
    const fuzzy = reference_answers.fuzzy_match ?? [];
    if (fuzzy === "N/A") {
      score *= Number(exactMatch(fuzzy, text));
      if (score === 1) continue;
      if (judged_unachievable === undefined) return unjudged;
      score = judged_unachievable;
      continue;
    }
    for (const index of fuzzy.keys()) {
      const one = judged?.[index];
      if (one === undefined) return unjudged;
      score *= one;
    }
  }
  return given(score);
}

/** Every approach reads the answer itself; decimals are numbers; words stand by themselves; alternatives hold everywhere. */
function strict({ answer, reference_answers, judged, judged_unachievable }: Input): Outcome<number> {
  const said = cleanStrictly(answer);
  const stands = (wanted: string): boolean =>
    alternatives(wanted).some((part) => standsIn(cleanStrictly(part), said));
  const { exact_match, required_values, must_include, must_exclude, one_of, fuzzy_match } = reference_answers;
  const scores: (number | undefined)[] = [];
  if (exact_match !== undefined) {
    scores.push(Number(alternatives(exact_match).some((one) => cleanStrictly(one) === said)));
  }
  if (required_values !== undefined) {
    const number = decimalNumber(said);
    if (number === undefined) scores.push(0);
    else {
      for (const one of required_values) {
        const outcome = anySatisfiedStrictly(number, one);
        if (outcome.fault !== undefined) return outcome;
        scores.push(Number(outcome.value));
      }
    }
  }
  for (const one of must_include ?? []) scores.push(Number(stands(one)));
  for (const one of must_exclude ?? []) scores.push(Number(!stands(one)));
  if (one_of !== undefined) scores.push(Number(one_of.some(stands)));
  if (fuzzy_match === "N/A") scores.push(cleanStrictly(fuzzy_match) === said ? 1 : judged_unachievable);
  else for (const index of (fuzzy_match ?? []).keys()) scores.push(judged?.[index]);
  return productOf(scores);
}

export const vwaString = defineScorer({
  name: "vwa.string",
  version: 1,
  input,
  score: { faithful, strict },
  reward: unit,
});
