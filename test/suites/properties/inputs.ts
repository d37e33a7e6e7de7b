/** Inputs of every scorer, and what a scorer makes of one. */
import fc from "fast-check";
import { expect } from "vitest";
import { findScorer } from "../../../src/suites/index.js";
import { seen } from "../support.js";

export const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc
    .array(
      fc.constantFrom(
        "NOT ",
        "SUCCESS",
        "UN",
        "Score",
        ": ",
        "4",
        "(1-5)",
        "status:",
        "success",
        "\n",
        " ",
        "'",
        '"',
        "$",
        "%",
        ",",
        ";",
        ".",
        "-",
        "inf",
        "nan",
        "None",
        "17",
        " |OR| ",
        "<",
        ">=",
        "==",
        "\t",
        "^",
        "$",
        "http://a/",
        "?x=1",
        "Action: ",
        "TYPE",
        "Value: ",
        "A",
        "b",
        "é",
        "😀",
        "\u0000",
        "\ud800",
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join("")),
);
export const texts = fc.array(text, { maxLength: 3 });
export const share = fc.double({ min: 0, max: 1, noNaN: true });
export const number = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
export const optional = { requiredKeys: [] as never[] };
export const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
export const criterion = fc.tuple(share, fc.constantFrom("critical", "soft"));
export const tree = fc.record({
  strategy: fc.constantFrom("parallel", "sequential"),
  children: fc.array(criterion, { maxLength: 5 }),
});
export const judged = { judged: fc.array(share, { maxLength: 3 }), judged_unachievable: share };
export const waAnswers = fc.record(
  { exact_match: text, must_include: texts, fuzzy_match: fc.oneof(fc.constant("N/A"), texts) },
  optional,
);
export const vwaAnswers = fc.record(
  {
    exact_match: text,
    required_values: texts,
    must_include: texts,
    must_exclude: texts,
    one_of: texts,
    fuzzy_match: fc.oneof(fc.constant("N/A"), texts),
  },
  optional,
);
export const waString = fc.record(
  { answer: text, reference_answers: waAnswers, ...judged },
  { requiredKeys: ["answer", "reference_answers"] },
);
export const urls = fc.record(
  { url: text, reference_url: text, url_note: fc.constantFrom("GOLD in PRED", "EXACT", "x") },
  { requiredKeys: ["url", "reference_url"] },
);
export const waHtml = fc.record({
  targets: fc.array(
    fc.record({
      selected: text,
      required_contents: fc.record({ exact_match: text, must_include: texts }, optional),
    }),
    { maxLength: 3 },
  ),
});

/** An input for each scorer. */
export const inputs: Record<string, fc.Arbitrary<unknown>> = {
  "androidworld.composite": fc.record({ parts: fc.array(share, { maxLength: 4 }), done: fc.boolean() }),
  "gaia.question": fc.record({ answer: fc.option(text), gold: text }),
  "hud.call": fc.record({ call: json }),
  "hud.reward": fc.record(
    {
      structured: json,
      texts: fc.array(fc.oneof(text, fc.json()), { maxLength: 3 }),
      is_error: fc.boolean(),
    },
    optional,
  ),
  "mind2web.operation_f1": fc.record({ pred: text, label: text }),
  "mind2web.postprocess": fc.record({ text }),
  "mind2web.steps": fc.record({
    tasks: fc.array(
      fc.record({
        steps: fc.array(
          fc.record({ element: fc.option(text), operation: text, elements: texts, label: text }),
          { minLength: 1, maxLength: 3 },
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  "mind2web2.tree": tree,
  "osworld.are_lists_equal": fc.record({
    a: fc.array(json, { maxLength: 3 }),
    b: fc.array(json, { maxLength: 3 }),
  }),
  "osworld.relative_time": fc.record({
    when: fc.constantFrom("first monday four months later", "first monday eight months later"),
    year: fc.integer({ min: 1, max: 9998 }),
    month: fc.integer({ min: 1, max: 12 }),
  }),
  "sheetbench.cells": fc.record(
    {
      expected: fc.dictionary(
        fc.oneof(text, fc.constantFrom("A1", "B2", "AA10", "A0")),
        fc.oneof(text, number, fc.boolean(), fc.constant(null)),
        { maxKeys: 3 },
      ),
      copied: text,
      sheet: text,
      partial: fc.boolean(),
    },
    { requiredKeys: ["expected", "copied"] },
  ),
  "tac.credit": fc.record({ total: number, result: number }),
  "tac.strategy": fc.record({
    strategy: fc.oneof(
      text,
      fc.constantFrom(
        "default",
        "bonus_for_completing_final",
        "bonus_for_completing_any",
        "bonus_for_completing_any_of_given_checkpoints([1, 3])",
      ),
    ),
    checkpoints: fc.array(fc.tuple(number, number), { maxLength: 4 }),
  }),
  "vwa.html": fc.record({
    targets: fc.array(
      fc.record(
        {
          selected: fc.oneof(text, fc.integer(), fc.constant(null)),
          required_contents: fc.record(
            {
              exact_match: text,
              must_include: texts,
              must_exclude: texts,
              required_values: texts,
              fuzzy_match: text,
            },
            optional,
          ),
          judged: fc.array(share, { maxLength: 3 }),
        },
        { requiredKeys: ["selected", "required_contents"] },
      ),
      { maxLength: 3 },
    ),
  }),
  "vwa.required_value": fc.record({ value: text, inequality: text }),
  "vwa.string": fc.record(
    { answer: text, reference_answers: vwaAnswers, ...judged },
    { requiredKeys: ["answer", "reference_answers"] },
  ),
  "vwa.url": urls,
  "wa.html": waHtml,
  "wa.string": waString,
  "wa.task": fc.record({ string_match: waString, url_match: urls, program_html: waHtml }, optional),
  "wa.url": urls,
  "webjudge.score": fc.record({ text: fc.option(text) }),
  "webjudge.status": fc.record({ text: fc.option(text) }),
  "webvoyager.verdict": fc.record({ text }),
};

export const nameOf = (id: string): string => id.replace(/\.v\d+\/.*$/, "");

export const faithful = (name: string, input: unknown): unknown =>
  seen(findScorer(`${name}.v1/faithful`).score(input));
export const strict = (name: string, input: unknown): unknown =>
  seen(findScorer(`${name}.v1/strict`).score(input));
export const plain = fc.string({ unit: fc.constantFrom(...Array.from("abc 17.,;-$%?")), maxLength: 8 });

/** What the strict profile accepts, the faithful one accepts too. */
export function accepts(
  name: string,
  input: fc.Arbitrary<unknown>,
  accepted: (value: unknown) => boolean,
): void {
  fc.assert(
    fc.property(input, (given) => {
      if (accepted(strict(name, given))) expect(accepted(faithful(name, given))).toBe(true);
    }),
    { numRuns: 1000 },
  );
}
