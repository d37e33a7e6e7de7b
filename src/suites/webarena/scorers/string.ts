/** WebArena's `string_match`: the agent's answer against reference answers. */
import { z } from "zod";
import { tokenize } from "../../python/treebank.js";
import { defineScorer, given, type Outcome, unit } from "../../scorer.js";
import { productOf, unjudged } from "./product.js";
import { alternatives, approachesOf, clean, cleanStrictly, standsIn } from "./text.js";

const share = z.number().min(0).max(1);

const input = z.strictObject({
  answer: z.string(),
  reference_answers: z.strictObject({
    exact_match: z.string().optional(),
    must_include: z.array(z.string()).optional(),
    fuzzy_match: z.union([z.literal("N/A"), z.array(z.string())]).optional(),
  }),
  /** What a model judged beforehand, since a scorer asks nobody: one score a fuzzy reference, in order. */
  judged: z.array(share).optional(),
  /** What a model made of the reason why the task cannot be done. */
  judged_unachievable: share.optional(),
});
type Input = z.output<typeof input>;

/** Text against text; a lone character must be a word of the answer if it is the only thing that is wanted. */
export function mustInclude(reference: string, answer: string, only: boolean): boolean {
  const wanted = clean(reference);
  const said = clean(answer);
  const single = only && Array.from(wanted).length === 1 && tokenize(wanted).length === 1;
  return single ? tokenize(said).includes(wanted) : said.includes(wanted);
}

function faithful(
  { answer, reference_answers, judged, judged_unachievable }: Input,
  raw: unknown,
): Outcome<number> {
  const said = clean(answer);
  let score = 1;
  // In the order in which the task names them: an unachievable task replaces what came before it.
  for (const approach of approachesOf(raw)) {
    if (approach === "exact_match")
      score *= Number(clean(said) === clean(reference_answers.exact_match ?? ""));
    if (approach === "must_include") {
      const wanted = reference_answers.must_include ?? [];
      for (const one of wanted) score *= Number(mustInclude(one, said, wanted.length === 1));
    }
    if (approach !== "fuzzy_match") continue;
    const fuzzy = reference_answers.fuzzy_match ?? [];
    if (fuzzy === "N/A") {
      score *= Number(clean(said) === clean(fuzzy));
      if (score === 1) continue;
      if (judged_unachievable === undefined) return unjudged;
      score = judged_unachievable;
      continue;
    }
    const scores = fuzzy.map((reference, index) => judgedOf(said, reference, judged?.[index]));
    if (scores.includes(undefined)) return unjudged;
    for (const one of scores) score *= one ?? 0;
  }
  return given(score);
}

/** An empty answer needs no judge. */
const judgedOf = (said: string, reference: string, judgement: number | undefined): number | undefined =>
  said === "" ? Number(reference === "") : judgement;

/** Every approach must hold; ` |OR| ` stands for alternatives everywhere; what is wanted must stand as a word of its own. */
function strict({ answer, reference_answers, judged, judged_unachievable }: Input): Outcome<number> {
  const said = cleanStrictly(answer);
  const { exact_match, must_include, fuzzy_match } = reference_answers;
  const scores: (number | undefined)[] = [];
  if (exact_match !== undefined) {
    scores.push(Number(alternatives(exact_match).some((one) => cleanStrictly(one) === said)));
  }
  for (const one of must_include ?? []) {
    scores.push(Number(alternatives(one).some((part) => standsIn(cleanStrictly(part), said))));
  }
  if (fuzzy_match === "N/A") {
    scores.push(cleanStrictly(fuzzy_match) === said ? 1 : judged_unachievable);
  } else {
    const references = fuzzy_match ?? [];
    scores.push(...references.map((reference, index) => judgedOf(said, reference, judged?.[index])));
  }
  return productOf(scores);
}

export const waString = defineScorer({
  name: "wa.string",
  version: 1,
  input,
  score: { faithful, strict },
  reward: unit,
});
