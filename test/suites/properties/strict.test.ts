/** Strict profiles beside faithful ones. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inputs, faithful, strict, plain, accepts } from "./inputs.js";

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
