/** Faults that users of published graders met: the faithful profile has each, and the strict one does not. */
import { describe, expect, it } from "vitest";
import { findScorer } from "../../src/suites/index.js";
import { seen } from "./support.js";

const faithful = (name: string, input: unknown): unknown =>
  seen(findScorer(`${name}.v1/faithful`).score(input));
const strict = (name: string, input: unknown): unknown => seen(findScorer(`${name}.v1/strict`).score(input));

/** The name of the fault, the scorer, the smallest input, what was published and what is right. */
const faults: readonly (readonly [string, string, unknown, unknown, unknown])[] = [
  [
    "webarena#275: ' |OR| ' is not honoured by string_match",
    "wa.string",
    { answer: "3", reference_answers: { must_include: ["65 |OR| 3"] } },
    0,
    1,
  ],
  [
    "WebArena finds a number inside another number",
    "wa.string",
    { answer: "000000170", reference_answers: { must_include: ["170"] } },
    1,
    0,
  ],
  [
    "an answer N/A that misses what must be included is saved by a judge",
    "wa.string",
    {
      answer: "nothing",
      reference_answers: { must_include: ["65"], fuzzy_match: "N/A" },
      judged_unachievable: 1,
    },
    1,
    0,
  ],
  [
    "a reference address that is a part of another page's address is found",
    "wa.url",
    { url: "http://shop/orders-archive", reference_url: "http://shop/orders" },
    1,
    0,
  ],
  [
    "one reference's query is asked of another reference's page",
    "wa.url",
    { url: "http://a/y", reference_url: "http://a/x?p=1 |OR| http://a/y" },
    0,
    1,
  ],
  [
    "visualwebarena#71: must_include means tokens there, and substrings in WebArena",
    "vwa.string",
    { answer: "000000170", reference_answers: { must_include: ["170"] } },
    0,
    0,
  ],
  [
    "VWA NumericEvaluator: '< 700' accepts 700",
    "vwa.required_value",
    { value: "700", inequality: "< 700" },
    { parsed: 700, ok: true },
    { parsed: 700, ok: false },
  ],
  [
    "VWA NumericEvaluator: decimals are no numbers",
    "vwa.required_value",
    { value: "12.5", inequality: "> 12" },
    { parsed: null, ok: null },
    { parsed: 12.5, ok: true },
  ],
  [
    "a required value turns the answer into a number for all that follow",
    "vwa.string",
    { answer: "7", reference_answers: { required_values: [">= 7"], must_include: ["7"] } },
    "BeartypeCallHintParamViolation must_include takes text, and a required value made a number of it",
    1,
  ],
  [
    "VWA one_of is found inside a word",
    "vwa.string",
    { answer: "nored", reference_answers: { one_of: ["red"] } },
    1,
    0,
  ],
  [
    "OSWorld are_lists_equal: [A,A] equals [A,C]",
    "osworld.are_lists_equal",
    { a: ["A", "A"], b: ["A", "C"] },
    true,
    false,
  ],
  [
    "OSWorld rule_relativeTime: eight months after April raise",
    "osworld.relative_time",
    { when: "first monday eight months later", year: 2026, month: 4 },
    "ValueError month must be in 1..12",
    "2026-12-07",
  ],
  [
    "OSWorld rule_relativeTime: four months after August raise",
    "osworld.relative_time",
    { when: "first monday four months later", year: 2026, month: 8 },
    "ValueError month must be in 1..12",
    "2026-12-07",
  ],
  ["WebVoyager: UNSUCCESSFUL is success", "webvoyager.verdict", { text: "... therefore UNSUCCESSFUL" }, 1, 0],
  ["WebVoyager: NOT a SUCCESS is success", "webvoyager.verdict", { text: "It is NOT a SUCCESS" }, 1, 0],
  [
    "WebVoyager: a denied success after a line break is success",
    "webvoyager.verdict",
    { text: "NOT\nSUCCESS" },
    1,
    0,
  ],
  ["WebJudge: 'Score (1-5): 4' is 1", "webjudge.score", { text: "**Score** (1-5): 4" }, 1, 4],
  ["WebJudge: 'Score: 10/5' is 1", "webjudge.score", { text: "Score: 10/5" }, 1, 0],
  ["WebJudge: unsuccessful is a success", "webjudge.status", { text: "Status: unsuccessful" }, 1, 0],
  ["WebJudge: not a success is a success", "webjudge.status", { text: 'Status: not a "success"' }, 1, 0],
  ["GAIA: any words answer inf", "gaia.question", { answer: "no idea", gold: "inf" }, true, false],
  ["GAIA: no answer is the answer None", "gaia.question", { answer: null, gold: "None" }, true, false],
  ["GAIA: 1.2 is 12 beside a letter", "gaia.question", { answer: "v12", gold: "v1.2" }, true, false],
  [
    "GAIA: a sign before a number with a unit is lost",
    "gaia.question",
    { answer: "5 °C", gold: "-5 °C" },
    true,
    false,
  ],
  ["GAIA: every mark answers every other", "gaia.question", { answer: "?", gold: "!" }, true, false],
  ["GAIA: nan is not nan", "gaia.question", { answer: "nan", gold: "nan" }, false, true],
  [
    "Mind2Web: words in another order are the same value",
    "mind2web.operation_f1",
    { pred: "TYPE york new", label: "TYPE new york" },
    1,
    2 / 3,
  ],
  ["Mind2Web: words count once", "mind2web.operation_f1", { pred: "TYPE a a a", label: "TYPE a" }, 1, 2 / 3],
  [
    "Mind2Web: an operation that does not exist reads as none",
    "mind2web.postprocess",
    { text: "B.\nAction: TYPEWRITE\nValue: x" },
    ["B", "TYPE x"],
    "UnreadableAnswer there is no operation TYPEWRITE",
  ],
  [
    "Mind2Web: the first letter of a sentence is an option",
    "mind2web.postprocess",
    { text: "Because of this" },
    ["B", " "],
    "UnreadableAnswer the text opens with no option letter",
  ],
  [
    "TheAgentCompany: more points than there are pay more",
    "tac.credit",
    { total: 2, result: 5 },
    2.25,
    "ValueError 5 of 2 points cannot be",
  ],
  [
    "TheAgentCompany: a checkpoint without points pays the bonus",
    "tac.strategy",
    {
      strategy: "bonus_for_completing_any",
      checkpoints: [
        [0, 2],
        [0, 0],
      ],
    },
    { total: 2, result: 2 },
    "ValueError every checkpoint needs at least one point",
  ],
  [
    "HUD: the documented shorthand stays as it is",
    "hud.call",
    { call: { setup: { navigate: { url: "u" } } } },
    { setup: { navigate: { url: "u" } } },
    { name: "setup", arguments: { name: "navigate", arguments: { url: "u" } } },
  ],
  [
    "HUD: an error of the tool is a reward of 0",
    "hud.reward",
    { is_error: true, structured: { reward: 1 } },
    0,
    "ToolError the evaluation tool reports an error",
  ],
  [
    "HUD: a result without a reward is a reward of 0",
    "hud.reward",
    { texts: ["done"] },
    0,
    "NoReward the result has no reward",
  ],
  [
    "HUD sheets_cell_values: no cells are all right",
    "sheetbench.cells",
    { expected: {}, copied: "" },
    1,
    "NoCells there are no cells to look at",
  ],
  [
    "HUD sheets_cell_values: column AA is never right",
    "sheetbench.cells",
    { expected: { AA1: "z" }, copied: `${"\t".repeat(26)}z` },
    0,
    1,
  ],
  [
    "HUD sheets_cell_values: no ANSWER tab grades the current sheet",
    "sheetbench.cells",
    { expected: { A1: "z" }, copied: "z", sheet: "Data" },
    1,
    0,
  ],
  [
    "HUD sheets_cell_values: a line break in a cell moves the rows",
    "sheetbench.cells",
    { expected: { A2: "z" }, copied: '"x\ny"\nz' },
    0,
    1,
  ],
  [
    "AndroidWorld: two parts of three are success",
    "androidworld.composite",
    { parts: [1, 1, 0], done: true },
    { score: 2 / 3, success: true },
    { score: 2 / 3, success: false },
  ],
];

describe("faults of published graders", () => {
  it.each(faults)("%s", (_, name, input, published, right) => {
    expect(faithful(name, input)).toEqual(published);
    expect(strict(name, input)).toEqual(right);
  });

  it("visualwebarena#41: '21 inches' is not '21' to an exact match, in either profile", () => {
    const input = { answer: "21 inches", reference_answers: { exact_match: "21" } };
    expect([faithful("vwa.string", input), strict("vwa.string", input)]).toEqual([0, 0]);
  });

  it("what stands first in a task of WebArena counts first, and a judge's word replaces only what came before it", () => {
    const of = (reference_answers: object): unknown =>
      faithful("wa.string", { answer: "nothing", reference_answers, judged_unachievable: 1 });
    expect(of({ must_include: ["65"], fuzzy_match: "N/A" })).toBe(1);
    expect(of({ fuzzy_match: "N/A", must_include: ["65"] })).toBe(0);
  });

  it.each([
    ["The verdict: SUCCESS", 1],
    ["It was not easy. The task is a SUCCESS.", 1],
    ["not considered to be a SUCCESS", 0],
    ["It FAILED at first, and then it was a SUCCESS", 0],
    ["As nothing is missing and there are no errors at all, it is a SUCCESS", null],
    ["success", null],
  ])("a strict reading of WebVoyager's judge gives %j %s", (text, verdict) => {
    expect(strict("webvoyager.verdict", { text })).toBe(verdict);
  });

  it("an empty answer, or none at all, is never worth anything to a strict scorer", () => {
    expect(strict("wa.string", { answer: "", reference_answers: { must_include: [""] } })).toBe(0);
    expect(strict("wa.url", { url: "http://a/", reference_url: "" })).toBe(0);
    expect(strict("gaia.question", { answer: "", gold: "?" })).toBe(false);
  });
});
