/** VisualWebArena's `url_match` and `program_html`. */
import { z } from "zod";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";
import { alternatives, cleanStrictly, standsIn } from "../../webarena/scorers/text.js";
import { waUrl } from "../../webarena/scorers/url.js";
import { exactMatch, includes } from "./matching.js";
import { anySatisfied, anySatisfiedStrictly, decimalNumber, wholeNumber } from "./values.js";

const urlInput = z.strictObject({
  url: z.string(),
  reference_url: z.string(),
  url_note: z.string().optional(),
});

const withoutSlash = (url: string): string => (url.endsWith("/") ? url.slice(0, -1) : url);

/** Letter by letter, one slash at the end aside; `GOLD in PRED` finds a reference anywhere in the address. */
function url({ url: at, reference_url, url_note }: z.output<typeof urlInput>): Outcome<number> {
  const page = withoutSlash(at);
  const wanted = alternatives(reference_url).map(withoutSlash);
  const rule = url_note ?? "EXACT";
  if (rule === "EXACT") return given(Number(wanted.includes(page)));
  if (rule === "GOLD in PRED") return given(Number(wanted.some((one) => page.includes(one))));
  return fault("ValueError", `Unknown matching rule: ${rule}`);
}

/** An address that holds another one, in its query for instance, is not that one. */
function strictUrl(visit: z.output<typeof urlInput>): Outcome<number> {
  return visit.url_note === "GOLD in PRED" ? waUrl.strict.score(visit) : url(visit);
}

export const vwaUrl = defineScorer({
  name: "vwa.url",
  version: 1,
  input: urlInput,
  score: { faithful: url, strict: strictUrl },
  reward: unit,
});

const share = z.number().min(0).max(1);
const texts = z.array(z.string());

const htmlInput = z.strictObject({
  targets: z.array(
    z.strictObject({
      /** The selected element's text or number; null if the page was wrong. */
      selected: z.union([z.string(), z.number().int()]).nullable(),
      required_contents: z.strictObject({
        exact_match: z.string().optional(),
        must_include: texts.optional(),
        must_exclude: texts.optional(),
        required_values: texts.optional(),
        fuzzy_match: z.string().optional(),
      }),
      /** What a model judged of each alternative of a fuzzy match. */
      judged: z.array(share).optional(),
    }),
  ),
});
type Target = z.output<typeof htmlInput>["targets"][number];

const unjudged = fault("NeedsJudge", "a fuzzy match needs a model's judgement in `judged`");

/** Only the first requirement in the published order counts; null ends the evaluation with 0. */
function faithful({ selected, required_contents, judged }: Target): Outcome<number> {
  if (selected === null) return given(0);
  const { exact_match, must_include, must_exclude, required_values, fuzzy_match } = required_contents;
  if (exact_match !== undefined) return given(Number(exactMatch(exact_match, String(selected))));
  if (must_include === undefined && must_exclude === undefined && required_values !== undefined) {
    const number = typeof selected === "number" ? BigInt(selected) : wholeNumber(selected);
    if (number === undefined) return given(0);
    return every(required_values, (one) => anySatisfied(number, one));
  }
  if (typeof selected === "number") {
    return fault("BeartypeCallHintParamViolation", "the requirement takes text, and a number was selected");
  }
  if (must_include !== undefined) {
    return every(must_include, (one) => given(alternatives(one).some((part) => includes(part, selected))));
  }
  if (must_exclude !== undefined) {
    if (must_exclude.some((one) => alternatives(one).length > 1)) return fault("AssertionError", "");
    return every(must_exclude, (one) => given(!includes(one, selected)));
  }
  if (fuzzy_match === undefined) return fault("ValueError", "Unknown required_contents: dict_keys([])");
  const scores = alternatives(fuzzy_match).map((_, index) => judged?.[index]);
  return scores.includes(undefined)
    ? unjudged
    : given(scores.reduce<number>((product, score) => product * (score ?? 0), 1));
}

/** Every requirement must hold; of a fuzzy match's alternatives the best counts. */
function strict({ selected, required_contents, judged }: Target): Outcome<number> {
  if (selected === null) return given(0);
  const text = cleanStrictly(String(selected));
  const stands = (wanted: string): boolean =>
    alternatives(wanted).some((part) => standsIn(cleanStrictly(part), text));
  const { exact_match, must_include, must_exclude, required_values, fuzzy_match } = required_contents;
  const parts: Outcome<number>[] = [];
  if (exact_match !== undefined) {
    parts.push(given(Number(alternatives(exact_match).some((one) => cleanStrictly(one) === text))));
  }
  if (must_include !== undefined) parts.push(every(must_include, (one) => given(stands(one))));
  if (must_exclude !== undefined) parts.push(every(must_exclude, (one) => given(!stands(one))));
  if (required_values !== undefined) {
    const number = decimalNumber(text);
    parts.push(
      number === undefined ? given(0) : every(required_values, (one) => anySatisfiedStrictly(number, one)),
    );
  }
  if (fuzzy_match !== undefined) {
    const scores = alternatives(fuzzy_match).map((_, index) => judged?.[index]);
    const known = scores.filter((score) => score !== undefined);
    parts.push(known.length < scores.length && !known.includes(1) ? unjudged : given(Math.max(...known)));
  }
  if (parts.length === 0) return fault("ValueError", "Unknown required_contents: dict_keys([])");
  if (parts.some(({ value }) => value === 0)) return given(0);
  const failed = parts.find((part) => part.fault !== undefined);
  return failed ?? given(parts.reduce((product, { value = 0 }) => product * value, 1));
}

function every(wanted: readonly string[], holds: (one: string) => Outcome<boolean>): Outcome<number> {
  let all = true;
  for (const one of wanted) {
    const outcome = holds(one);
    if (outcome.fault !== undefined) return outcome;
    all &&= outcome.value;
  }
  return given(Number(all));
}

const product =
  (score: (target: Target) => Outcome<number>) =>
  ({ targets }: z.output<typeof htmlInput>): Outcome<number> => {
    let all = 1;
    for (const target of targets) {
      const one = score(target);
      if (one.fault !== undefined) return one;
      all *= one.value;
      if (target.selected === null) break;
    }
    return given(all);
  };

export const vwaHtml = defineScorer({
  name: "vwa.html",
  version: 1,
  input: htmlInput,
  score: { faithful: product(faithful), strict: product(strict) },
  reward: unit,
});
