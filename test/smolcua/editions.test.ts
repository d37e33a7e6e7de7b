import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalBudget, passPoints, pointsOf } from "../../src/smolcua/editions/budget.js";
import {
  keyLines,
  questionLines,
  readKeys,
  readQuestions,
  sha256,
} from "../../src/smolcua/editions/lines.js";
import { type Edition, manifestOf, scoringHash } from "../../src/smolcua/editions/manifest.js";
import { grouped, selectPasses, selectPositions } from "../../src/smolcua/editions/select.js";
import { buildSource } from "../../src/smolcua/editions/source.js";
import { categoriesWithScenarios } from "../../src/smolcua/questions/categories/index.js";
import { responseFormats } from "../../src/smolcua/questions/types.js";

const build = (seed = "test") =>
  buildSource({ seed, passes: 5, perStratum: 3, firstPosition: 0, categories: categoriesWithScenarios });

const large = build();
const five = selectPositions(large, "five", 2);
const three = selectPasses(five, 3);

const edition = (changes: Partial<Edition> = {}): Edition => ({
  name: "three",
  split: "evaluation",
  seed: "test",
  procedure: "Passes 1 to 3 of five.",
  items: three,
  source: { name: "five", items: five },
  ...changes,
});

describe("an edition", () => {
  it("has the same bytes whenever it is built, and others of another seed", () => {
    const again = build();
    expect(questionLines(again.questions)).toBe(questionLines(large.questions));
    expect(keyLines(again.keys)).toBe(keyLines(large.keys));
    expect(questionLines(build("other").questions)).not.toBe(questionLines(large.questions));
  });

  it("is chosen so that each stratum has its positions in every pass", () => {
    const strata = grouped(five.questions, ({ category, format, pass }) => `${category} ${format} ${pass}`);
    expect(strata.size).toBe(categoriesWithScenarios.length * responseFormats.length * 5);
    for (const [name, questions] of strata)
      expect(new Set(questions.map(({ position }) => position)).size, name).toBe(2);
  });

  it("of three passes is exactly the first three of five", () => {
    const lines = questionLines(five.questions).split("\n");
    const first = lines.filter((line) => /"pass":[123],/.test(line)).join("\n");
    expect(questionLines(three.questions)).toBe(`${first}\n`);
    const points = pointsOf(five.questions, equalBudget(categoriesWithScenarios));
    for (const [id, own] of pointsOf(three.questions, equalBudget(categoriesWithScenarios)))
      expect(own, id).toBe(points.get(id));
  });

  it("reads back as it was written", () => {
    expect(readQuestions(questionLines(three.questions), "questions.jsonl")).toEqual(three.questions);
    expect(readKeys(keyLines(three.keys), "keys.jsonl")).toEqual(three.keys);
  });

  it("is refused where a line was cut or has an unknown field", () => {
    const lines = questionLines(three.questions.slice(0, 2));
    expect(() => readQuestions(lines.slice(0, -1), "q")).toThrow("q does not end with a line feed");
    expect(() => readQuestions(`${lines.slice(0, -9)}\n`, "q")).toThrow("line 2 of q is no JSON");
    expect(() => readQuestions(lines.replace('"pass":', '"pas":'), "q")).toThrow(/q\[0\]/);
  });

  it("serialises fields in one order, whatever order they come in", () => {
    const [question] = three.questions;
    if (question === undefined) throw new Error("no question");
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.entries(question), { minLength: 11 }), (entries) => {
        expect(questionLines([Object.fromEntries(entries) as unknown as typeof question])).toBe(
          questionLines([question]),
        );
      }),
      { numRuns: 30 },
    );
  });
});

describe("a manifest", () => {
  it("names files, source and selection by their hashes", () => {
    const manifest = manifestOf(edition());
    expect(manifest).toMatchObject({
      edition: "three",
      passes: 3,
      questions: { sha256: sha256(questionLines(three.questions)), lines: three.questions.length },
      keys: { path: "private/keys.jsonl", sha256: sha256(keyLines(three.keys)) },
      scoring: { protocol: "v2-outer-whitespace-insensitive", sha256: scoringHash() },
      source: { edition: "five", questions: sha256(questionLines(five.questions)) },
    });
    expect(manifest.selection.ids).toEqual(three.questions.map(({ id }) => id));
    expect(JSON.stringify(manifest)).toBe(JSON.stringify(manifestOf(edition())));
  });

  it("shares the points of a pass among the categories, and says that nothing calibrates them", () => {
    const { budget } = manifestOf(edition());
    const sum = Object.values(budget.categories).reduce((total, points) => total + points, 0);
    expect(sum).toBeCloseTo(passPoints);
    expect(budget.calibrated).toBe(false);
  });

  it("is refused for keys of other questions, and for items that the source does not have", () => {
    const swapped = { ...three, keys: three.keys.toReversed() };
    expect(() => manifestOf(edition({ items: swapped }))).toThrow("the keys of three are not those");
    const foreign = { name: "five", items: build("other") };
    expect(() => manifestOf(edition({ source: foreign }))).toThrow("three has what five does not have");
  });

  it("is refused where points do not come to a pass's budget", () => {
    const [category, ...others] = categoriesWithScenarios;
    expect(() => pointsOf(three.questions, equalBudget(others))).toThrow(`${category ?? ""} has no points`);
    const doubled = Object.fromEntries(categoriesWithScenarios.map((one) => [one, passPoints]));
    expect(() => pointsOf(three.questions, doubled)).toThrow("and not to 100");
  });
});
