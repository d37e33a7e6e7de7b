import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normaliserNames } from "../../../src/verifiers/assertions/schema.js";
import { normalisers, normaliseText } from "../../../src/verifiers/assertions/normalise.js";
import { moduleVersions } from "../../../src/verifiers/versions.js";

describe("a normaliser", () => {
  it.each([
    ["casefold", "Straße ΣΑΣ", "strasse σας"],
    ["casefold", "STRAẞE", "strasse"],
    ["strip_accents", "Crème Brûlée", "Creme Brulee"],
    ["strip_punctuation", "a, b. (c)!", "a b c"],
    ["straight_quotes", "“it’s”", '"it\'s"'],
    ["plain_numbers", "1,234.50 and 007", "1234.5 and 007"],
    ["plain_numbers", "v1.2.30, 2026-03-04, 10:30, a1, 1,2,3", "v1.2.30, 2026-03-04, 10:30, a1, 1,2,3"],
    ["plain_numbers", "-1,000.00", "-1000"],
  ] as const)("%s makes %j into %j", (name, text, wanted) => {
    expect(normaliseText(text, [name])).toBe(wanted);
  });

  it("has a version that is a part of every verifier's version", () => {
    for (const name of normaliserNames) {
      expect(moduleVersions[`normalise/${name}`]).toBe(normalisers[name].version);
    }
  });

  it("changes nothing when it is applied again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom(...normaliserNames), (text, name) => {
        if (name === "final_newline") return;
        const once = normaliseText(text, [name]);
        expect(normaliseText(once, [name])).toBe(once);
      }),
      { numRuns: 1_000 },
    );
  });
});
