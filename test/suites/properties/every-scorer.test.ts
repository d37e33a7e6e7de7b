/** What every scorer keeps, whatever its input. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findScorer, scorerIds } from "../../../src/suites/index.js";
import { inputs, nameOf } from "./inputs.js";

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
