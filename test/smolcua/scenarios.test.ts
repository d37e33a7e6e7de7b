import { describe, expect, it } from "vitest";
import { categoriesWithScenarios, scenariosOf } from "../../src/smolcua/questions/categories/index.js";
import { contentHash } from "../../src/smolcua/editions/source.js";
import { instantiate } from "../../src/smolcua/questions/instance.js";
import { type Category, responseFormats } from "../../src/smolcua/questions/types.js";
import { grade, referenceAnswer } from "../../src/smolcua/index.js";

const draws = 120;

function items(category: Category) {
  return scenariosOf(category).flatMap((scenario) =>
    Array.from({ length: draws }, (_, position) =>
      instantiate(scenario, {
        category,
        format: responseFormats[position % responseFormats.length] ?? "letter",
        position,
        pass: 1,
        seed: "test",
        right: position % 4,
      }),
    ),
  );
}

describe.each(categoriesWithScenarios)("questions of %s", (category) => {
  const all = items(category);

  it("keep the rules of authoring, and their keys are right answers within their contracts", () => {
    for (const { question, key } of all) {
      const answer = referenceAnswer(question.contract, key.key);
      expect(grade(question.contract, key.key, answer), question.id).toMatchObject({ correct: true });
    }
  });

  it("come in enough variety that no two passes need share one", () => {
    for (const scenario of scenariosOf(category)) {
      const own = all.filter(({ question }) => question.scenario === scenario.name);
      const different = new Set(own.map(({ question }) => contentHash(question)));
      expect(different.size / own.length, scenario.name).toBeGreaterThan(0.8);
    }
  });

  it("do not tell the right option by its length", () => {
    let longest = 0;
    let shortest = 0;
    for (const { question, key } of all) {
      const lengths = question.options.map(({ length }) => length);
      const own = lengths["ABCD".indexOf(key.option)] ?? 0;
      const share = 1 / lengths.filter((length) => length === own).length;
      if (own === Math.max(...lengths)) longest += share;
      if (own === Math.min(...lengths)) shortest += share;
    }
    // Chance is a quarter.
    expect(longest / all.length).toBeLessThan(0.36);
    expect(shortest / all.length).toBeLessThan(0.36);
  });

  it("do not tell the right option by the words that it shares with the question", () => {
    const words = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
    let most = 0;
    let least = 0;
    for (const { question, key } of all) {
      const asked = words(`${question.situation} ${question.question}`);
      const shares = question.options.map((option) => {
        const own = [...words(option)];
        return own.filter((word) => asked.has(word)).length / Math.max(1, own.length);
      });
      const right = shares["ABCD".indexOf(key.option)] ?? 0;
      const ties = 1 / shares.filter((share) => share === right).length;
      if (right === Math.max(...shares)) most += ties;
      if (right === Math.min(...shares)) least += ties;
    }
    expect(most / all.length).toBeLessThan(0.4);
    expect(least / all.length).toBeLessThan(0.4);
  });
});
