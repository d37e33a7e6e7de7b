/** Laws of the scorers: every one is total, and a strict profile is never content with what only a named bug accepts. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findScorer, scorerIds } from "../../src/suites/index.js";
import { seen } from "./support.js";

const text = fc.oneof(
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
const texts = fc.array(text, { maxLength: 3 });
const share = fc.double({ min: 0, max: 1, noNaN: true });
const number = fc.oneof(
  fc.integer({ min: -3, max: 12 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const optional = { requiredKeys: [] as never[] };
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const criterion = fc.tuple(share, fc.constantFrom("critical", "soft"));
const tree = fc.record({
  strategy: fc.constantFrom("parallel", "sequential"),
  children: fc.array(criterion, { maxLength: 5 }),
});
const judged = { judged: fc.array(share, { maxLength: 3 }), judged_unachievable: share };
const waAnswers = fc.record(
  { exact_match: text, must_include: texts, fuzzy_match: fc.oneof(fc.constant("N/A"), texts) },
  optional,
);
const vwaAnswers = fc.record(
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
const waString = fc.record(
  { answer: text, reference_answers: waAnswers, ...judged },
  { requiredKeys: ["answer", "reference_answers"] },
);
const urls = fc.record(
  { url: text, reference_url: text, url_note: fc.constantFrom("GOLD in PRED", "EXACT", "x") },
  { requiredKeys: ["url", "reference_url"] },
);
const waHtml = fc.record({
  targets: fc.array(
    fc.record({
      selected: text,
      required_contents: fc.record({ exact_match: text, must_include: texts }, optional),
    }),
    { maxLength: 3 },
  ),
});

/** An input for each scorer. */
const inputs: Record<string, fc.Arbitrary<unknown>> = {
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

const nameOf = (id: string): string => id.replace(/\.v\d+\/.*$/, "");

describe("every scorer", () => {
  it("has both profiles, and inputs in this test", () => {
    expect([...new Set(scorerIds.map(nameOf))].sort()).toEqual(Object.keys(inputs).sort());
    for (const name of Object.keys(inputs)) {
      expect(scorerIds).toEqual(expect.arrayContaining([`${name}.v1/faithful`, `${name}.v1/strict`]));
    }
  });

  it.each(scorerIds)("%s is total, and gives the same for the same", (id) => {
    const scorer = findScorer(id);
    fc.assert(
      fc.property(inputs[nameOf(id)] ?? fc.anything(), (input) => {
        const outcome = scorer.score(input);
        expect(scorer.score(structuredClone(input))).toEqual(outcome);
        if (outcome.fault === undefined && typeof outcome.value === "number")
          expect(outcome.value).not.toBeNaN();
      }),
      { numRuns: 150 },
    );
  });

  it.each(scorerIds)("%s refuses what is no input of its own, with a path", (id) => {
    expect(() => findScorer(id).score({ nothing: 1 })).toThrow(
      expect.objectContaining({ code: "bad_request" }),
    );
    expect(() => findScorer(id).score(null)).toThrow(expect.objectContaining({ code: "bad_request" }));
  });

  it.each(scorerIds)("%s grades from 0 to 1, or not at all", (id) => {
    const scorer = findScorer(id);
    fc.assert(
      fc.property(inputs[nameOf(id)] ?? fc.anything(), (input) => {
        const { value, fault } = scorer.grade(input);
        if (fault === undefined) expect(value >= 0 && value <= 1).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("that only reads a text grades nothing", () => {
    expect(findScorer("webvoyager.verdict.v1/strict").grade({ text: "?" }).fault?.kind).toBe("NoScore");
    expect(findScorer("webvoyager.verdict.v1/strict").grade({ text: "SUCCESS" }).value).toBe(1);
    expect(findScorer("mind2web.postprocess.v1/strict").grade({ text: "A" }).fault?.kind).toBe("NoScore");
  });

  it("is found by its id, and a misspelt one is told", () => {
    expect(() => findScorer("gaia.question.v1/faithfull")).toThrow(
      expect.objectContaining({
        code: "bad_request",
        suggestion: 'did you mean "gaia.question.v1/faithful"?',
      }),
    );
  });
});

const faithful = (name: string, input: unknown): unknown =>
  seen(findScorer(`${name}.v1/faithful`).score(input));
const strict = (name: string, input: unknown): unknown => seen(findScorer(`${name}.v1/strict`).score(input));
const plain = fc.string({ unit: fc.constantFrom(...Array.from("abc 17.,;-$%?")), maxLength: 8 });

/** What the strict profile accepts, the faithful one accepts too. */
function accepts(name: string, input: fc.Arbitrary<unknown>, accepted: (value: unknown) => boolean): void {
  fc.assert(
    fc.property(input, (given) => {
      if (accepted(strict(name, given))) expect(accepted(faithful(name, given))).toBe(true);
    }),
    { numRuns: 1000 },
  );
}

describe("a strict profile accepts nothing that the faithful one refuses, but for what that one cannot read", () => {
  const isTrue = (value: unknown): boolean => value === true;
  const isOne = (value: unknown): boolean => value === 1;

  it("of GAIA's question scorer", () => {
    accepts("gaia.question", fc.record({ answer: fc.option(plain), gold: plain }), isTrue);
  });

  it("of Mind2Web's operation F1", () => {
    const operation = fc
      .array(fc.constantFrom("TYPE", "a", "b"), { maxLength: 4 })
      .map((parts) => parts.join(" "));
    accepts("mind2web.operation_f1", fc.record({ pred: operation, label: operation }), isOne);
  });

  it("of WebVoyager's verdict", () => {
    const prose = fc
      .array(fc.constantFrom("SUCCESS", "NOT ", "UNSUCCESSFUL", "not ", " ", ". ", "the task is a "), {
        maxLength: 6,
      })
      .map((parts) => parts.join(""));
    accepts("webvoyager.verdict", fc.record({ text: prose }), isOne);
  });

  it("of WebJudge's status", () => {
    const prose = fc
      .array(fc.constantFrom("Status: ", "success", "failure", '"', "not ", "\n", "un"), { maxLength: 6 })
      .map((parts) => parts.join(""));
    accepts("webjudge.status", fc.record({ text: prose }), isOne);
  });

  it("of WebArena's addresses, with one reference", () => {
    const address = fc
      .array(fc.constantFrom("http://a", "/x", "/y", "/", "?p=1", "&q=2"), { maxLength: 5 })
      .map((parts) => parts.join(""));
    accepts("wa.url", fc.record({ url: address, reference_url: address }), isOne);
  });

  it("of WebArena's inclusion, without alternatives", () => {
    const included = fc.string({
      unit: fc.constantFrom(...Array.from("ab 17.")),
      minLength: 1,
      maxLength: 6,
    });
    accepts(
      "wa.string",
      fc.record({
        answer: included,
        reference_answers: fc.record({ must_include: fc.tuple(included, included) }),
      }),
      isOne,
    );
  });

  it("of VisualWebArena's values, for whole numbers", () => {
    const value = fc.integer({ min: -1000, max: 1000 });
    accepts(
      "vwa.required_value",
      fc
        .tuple(value, fc.constantFrom("<", "<=", "==", ">=", ">"), value)
        .map(([left, operator, right]) => ({ value: String(left), inequality: `${operator} ${right}` })),
      (found) => (found as { ok: unknown }).ok === true,
    );
  });

  it("of OSWorld's lists, which strictly are equal either way round", () => {
    const list = fc.array(fc.constantFrom("A", "B", "C"), { maxLength: 4 });
    accepts("osworld.are_lists_equal", fc.record({ a: list, b: list }), isTrue);
    fc.assert(
      fc.property(list, list, (a, b) => {
        expect(strict("osworld.are_lists_equal", { a, b })).toBe(
          strict("osworld.are_lists_equal", { a: b, b: a }),
        );
      }),
    );
  });

  it("of TheAgentCompany's credit, AndroidWorld's composite and HUD's reward, which keep their values", () => {
    for (const name of ["tac.credit", "hud.reward"]) {
      fc.assert(
        fc.property(inputs[name] ?? fc.anything(), (given) => {
          const found = strict(name, given);
          if (typeof found === "number") expect(faithful(name, given)).toBe(found);
        }),
      );
    }
    expect(Object.is(faithful("tac.credit", { total: 1, result: -0 }), 0)).toBe(true);
    accepts(
      "androidworld.composite",
      inputs["androidworld.composite"] ?? fc.anything(),
      (found) => (found as { success?: boolean }).success === true,
    );
  });
});

describe("other laws", () => {
  const points = fc.array(
    fc
      .integer({ min: 1, max: 4 })
      .chain((total) => fc.tuple(fc.integer({ min: 0, max: total }), fc.constant(total))),
    { minLength: 1, maxLength: 5 },
  );

  it("a bonus never pays less than the plain sum, and never more than all", () => {
    fc.assert(
      fc.property(
        points,
        fc.constantFrom("bonus_for_completing_any", "bonus_for_completing_final"),
        (checkpoints, strategy) => {
          const of = (name: string): { result: number; total: number } =>
            faithful("tac.strategy", { strategy: name, checkpoints }) as { result: number; total: number };
          expect(of(strategy).result).toBeGreaterThanOrEqual(of("default").result);
          expect(of(strategy).result).toBeLessThanOrEqual(of(strategy).total);
        },
      ),
    );
  });

  it("more points never score less", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat({ max: 49 }), (total, result) => {
        const credit = (earned: number): number =>
          faithful("tac.credit", { total, result: earned }) as number;
        if (result < total) expect(credit(result + 1)).toBeGreaterThan(credit(result));
      }),
    );
  });

  it("a better child never lowers a tree, and a failed critical child empties it", () => {
    fc.assert(
      fc.property(tree, fc.nat(), share, ({ strategy, children }, at, better) => {
        const score = faithful("mind2web2.tree", { strategy, children }) as number;
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        if (children.length === 0) return;
        const index = at % children.length;
        const raised = children.map(([value, kind], place) => [
          place === index ? Math.max(value, better) : value,
          kind,
        ]);
        expect(faithful("mind2web2.tree", { strategy, children: raised })).toBeGreaterThanOrEqual(
          score - 1e-12,
        );
        const failed = children.map(([value, kind], place) =>
          place === index ? [0, "critical"] : [value, kind],
        );
        expect(faithful("mind2web2.tree", { strategy, children: failed })).toBe(0);
      }),
    );
  });

  it("a tree of trees scores as its parts would; what is critical must be so all the way down", () => {
    const parallel = (...children: unknown[]): unknown =>
      faithful("mind2web2.tree", { strategy: "parallel", children });
    const soft = {
      strategy: "sequential",
      children: [
        [1, "soft"],
        [0.5, "soft"],
        [1, "soft"],
      ],
    };
    const critical = {
      strategy: "parallel",
      children: [
        [1, "critical"],
        [0.5, "critical"],
      ],
    };
    expect(parallel([soft, "soft"], [1, "soft"])).toBe(0.75);
    expect(parallel([critical, "critical"], [1, "soft"])).toBe(0);
    expect(parallel()).toBe(0);
    expect(parallel([soft, "critical"])).toMatch(/^ValueError/);
  });

  it("an operation agrees with itself, and agreement is symmetric", () => {
    fc.assert(
      fc.property(text, text, (pred, label) => {
        for (const score of [faithful, strict]) {
          expect(score("mind2web.operation_f1", { pred, label: pred })).toBe(1);
          expect(score("mind2web.operation_f1", { pred, label })).toBeCloseTo(
            score("mind2web.operation_f1", { pred: label, label: pred }) as number,
            12,
          );
        }
      }),
    );
  });

  it("a task of Mind2Web succeeds only if every step does", () => {
    const step = (element: string, operation: string): unknown => ({
      element,
      operation,
      elements: ["e"],
      label: "CLICK",
    });
    const tasks = [
      { steps: [step("e", "CLICK"), step("e", "CLICK")] },
      {
        steps: [
          step("e", "CLICK"),
          step("x", "CLICK"),
          step("e", "TYPE"),
          { element: null, operation: "", elements: ["e"], label: "" },
        ],
      },
    ];
    expect(faithful("mind2web.steps", { tasks })).toEqual({
      element_accuracy: 4 / 6,
      operation_f1: 4 / 6,
      step_success: 3 / 6,
      task_success: 1 / 2,
      macro: {
        element_accuracy: (1 + 2 / 4) / 2,
        operation_f1: (1 + 2 / 4) / 2,
        step_success: (1 + 1 / 4) / 2,
      },
    });
  });

  it("a reward is found where HUD looks for it, in its order", () => {
    const reward = (input: unknown): unknown => strict("hud.reward", input);
    expect(reward({ structured: { score: 0.2, reward: 0.5 } })).toBe(0.5);
    expect(reward({ structured: { subscores: { a: 1, b: 0.5 }, weights: { a: 0.5, b: 0.5 } } })).toBe(0.75);
    expect(reward({ texts: ["no", '{"grade": 0.25, "reward": 1}'] })).toBe(0.25);
    expect(reward({ structured: { reward: "1" } })).toBe("NoReward the reward is no number from 0 to 1");
    expect(faithful("hud.reward", { structured: { reward: "1" } })).toBe("1");
  });
});
