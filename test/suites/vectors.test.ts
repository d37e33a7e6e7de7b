import { describe, expect, it } from "vitest";
import { runVectors } from "../../src/suites/index.js";
import { sameValue } from "../../src/suites/vectors/run.js";
import { absent, readShared } from "./support.js";

const file = ["facts", "scoring-vectors.json"] as const;

describe.skipIf(absent(...file))("the executed vectors (skipped where ../shared/facts is absent)", () => {
  it("all agree with the faithful profiles, those of model dialects aside", () => {
    const { report, tallies } = runVectors(readShared(...file));
    expect(report.different).toEqual([]);
    expect(report.total).toBe(report.equal + report.skipped);
    expect(tallies.filter(({ skipped }) => skipped > 0).map(({ scorer }) => scorer)).toEqual([
      "uitars_parse_1920x1080_qwen25vl",
      "anthropic_quickstart_scale",
    ]);
    expect(report.equal).toBeGreaterThan(50);
  });

  it("name each bug where the strict profiles differ", () => {
    const { report } = runVectors(readShared(...file), "strict");
    const found = report.different.map(({ scorer, index }) => `${scorer}[${index}]`);
    expect(found).toEqual(
      expect.arrayContaining([
        "webvoyager_verdict[2]",
        "webvoyager_verdict[3]",
        "webjudge_score[1]",
        "webjudge_score[2]",
        "osworld_metric_quirks_executed[0]",
        "osworld_metric_quirks_executed[1]",
      ]),
    );
  });
});

describe("a run of vectors", () => {
  it("counts rows, and shows what differs with its place", () => {
    const { report } = runVectors({
      gaia_question_scorer: [
        { answer: "17", gold: "17", correct: true },
        { answer: "18", gold: "17", correct: true },
      ],
      anthropic_quickstart_scale: [{ anything: 1 }],
    });
    expect(report).toEqual({
      total: 3,
      equal: 1,
      skipped: 1,
      different: [{ scorer: "gaia_question_scorer", index: 1, expected: true, got: false }],
    });
  });

  it("shows an exception of the published program as its name and message", () => {
    const { report } = runVectors({
      mind2web_postprocess: [{ text: "  ", parsed: "IndexError string index out of range" }],
      tac_score: [{ total: 0, result: 0, score: "ZeroDivisionError division by zero" }],
      vwa_required_values: [
        { value: "7", ineq: "about 7", parsed: 7, ok: "ValueError Invalid inequality string: about 7" },
        { value: "7", ineq: "< x", parsed: 7, ok: "ValueError could not convert string to float: 'x'" },
      ],
      tac_strategies: [
        {
          strategy: "bonus_for_completing_any_of_given_checkpoints([4])",
          checkpoints: [[1, 1]],
          result: "IndexError list index out of range",
          total: null,
        },
      ],
    });
    expect(report.different).toEqual([]);
  });

  it("takes names that JavaScript keeps for itself", () => {
    const text =
      '{"in": {"__proto__": {"a": {"name": "x"}}}, "out": {"name": "__proto__", "arguments": {"a": {"name": "x"}}}}';
    const { report } = runVectors({ hud_normalize_to_tool_call_dict: [JSON.parse(text)] });
    expect(report.different).toEqual([]);
  });

  it.each([
    ["no object", [], "", /it looks like/],
    [
      "an unknown scorer that is near one",
      { gaia_question_scorr: [] },
      "gaia_question_scorr",
      /gaia_question_scorer/,
    ],
    ["an unknown scorer", { zzz: [] }, "zzz", /there are gaia_question_scorer/],
    ["no list", { tac_score: {} }, "tac_score", /list/],
    [
      "a misspelt field",
      { tac_score: [{ totl: 1, result: 1, score: 1 }] },
      "tac_score[0].totl",
      /did you mean "total"/,
    ],
    [
      "a field of the wrong type",
      { tac_score: [{ total: "1", result: 1, score: 1 }] },
      "tac_score[0].total",
      /docs\/scorers\.md/,
    ],
    [
      "an unknown function",
      { osworld_metric_quirks_executed: [{ fn: "x" }] },
      "osworld_metric_quirks_executed[0].fn",
      /./,
    ],
  ])("refuses %s, with its path and what to do", (_, given, path, suggestion) => {
    expect(() => runVectors(given)).toThrow(
      expect.objectContaining({
        code: "bad_request",
        path,
        suggestion: expect.stringMatching(suggestion) as string,
      }),
    );
  });
});

describe("values of a vector", () => {
  it("are the same to twelve digits, and whole numbers exactly", () => {
    expect(sameValue(1 / 3, 0.3333333333333333)).toBe(true);
    expect(sameValue(0.1 + 0.2, 0.3)).toBe(true);
    expect(sameValue(0.333, 1 / 3)).toBe(false);
    expect(sameValue(1, 2)).toBe(false);
    expect(sameValue(null, 0)).toBe(false);
    expect(sameValue({ a: [1, null] }, { a: [1, null] })).toBe(true);
    expect(sameValue({ a: 1 }, { a: 1, b: 2 })).toBe(false);
  });
});
