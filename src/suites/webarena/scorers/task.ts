/** A whole WebArena task: the product of the kinds of evaluation that it names. */
import { z } from "zod";
import { isJsonObject } from "../../../verifiers/assertions/json-value.js";
import { defineScorer, fault, given, type Outcome, type Profile, unit } from "../../scorer.js";
import { waHtml } from "./html.js";
import { waString } from "./string.js";
import { waUrl } from "./url.js";

const input = z.strictObject({
  string_match: waString.faithful.input.optional(),
  url_match: waUrl.faithful.input.optional(),
  program_html: waHtml.faithful.input.optional(),
});

const kinds = { string_match: waString, url_match: waUrl, program_html: waHtml } as const;

const score =
  (profile: Profile) =>
  (_: z.output<typeof input>, raw: unknown): Outcome<number> => {
    const parts = isJsonObject(raw) ? raw : {};
    let all: number | undefined;
    for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
      const part = parts[kind];
      if (part === undefined) continue;
      const outcome = kinds[kind][profile].score(part);
      if (outcome.fault !== undefined) return outcome;
      all = (all ?? 1) * outcome.value;
    }
    // Nothing to evaluate is a product of nothing where it was published, and an empty task here.
    if (all === undefined && profile === "strict")
      return fault("ValueError", "no kind of evaluation is given");
    return given(all ?? 1);
  };

export const waTask = defineScorer({
  name: "wa.task",
  version: 1,
  input,
  score: { faithful: score("faithful"), strict: score("strict") },
  reward: unit,
});
