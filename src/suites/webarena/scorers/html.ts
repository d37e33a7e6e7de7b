/** WebArena's `program_html`: what was selected on pages against required contents. */
import { decodeHTML } from "entities";
import { z } from "zod";
import { defineScorer, fault, given, type Outcome, unit } from "../../scorer.js";
import { mustInclude } from "./string.js";
import { alternatives, clean, cleanStrictly, standsIn } from "./text.js";

const input = z.strictObject({
  targets: z.array(
    z.strictObject({
      /** The selected element's text, or the page's source; empty where nothing was found. */
      selected: z.string(),
      required_contents: z.strictObject({
        exact_match: z.string().optional(),
        must_include: z.array(z.string()).optional(),
      }),
    }),
  ),
});
type Target = z.output<typeof input>["targets"][number];

/** An exact match is taken literally and hides what must be included; the latter knows alternatives. */
function faithful({ selected, required_contents }: Target): Outcome<number> {
  const text = decodeHTML(selected);
  const { exact_match, must_include } = required_contents;
  if (exact_match !== undefined) return given(Number(clean(text) === clean(exact_match)));
  if (must_include === undefined) return fault("ValueError", "Unknown required_contents: dict_keys([])");
  const holds = (content: string): boolean =>
    alternatives(content).some((part) => mustInclude(part, text, false));
  return given(Number(must_include.every(holds)));
}

/** Both must hold, with alternatives in both; nothing selected holds nothing. */
function strict({ selected, required_contents }: Target): Outcome<number> {
  const text = cleanStrictly(decodeHTML(selected));
  const { exact_match, must_include } = required_contents;
  if (exact_match === undefined && must_include === undefined) {
    return fault("ValueError", "Unknown required_contents: dict_keys([])");
  }
  const exact =
    exact_match === undefined || alternatives(exact_match).some((part) => cleanStrictly(part) === text);
  const included = (must_include ?? []).every((content) =>
    alternatives(content).some((part) => standsIn(cleanStrictly(part), text)),
  );
  return given(Number(exact && included));
}

const product =
  (score: (target: Target) => Outcome<number>) =>
  ({ targets }: z.output<typeof input>): Outcome<number> => {
    let all = 1;
    for (const target of targets) {
      const one = score(target);
      if (one.fault !== undefined) return one;
      all *= one.value;
    }
    return given(all);
  };

export const waHtml = defineScorer({
  name: "wa.html",
  version: 1,
  input,
  score: { faithful: product(faithful), strict: product(strict) },
  reward: unit,
});
