import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { grade, textCheck } from "../support.js";

async function scoreOf(text: string, assert: object): Promise<number | null> {
  const check = textCheck("q", "/q", { ...assert, type: "quantity" });
  return (await grade(check, { files: { "/q": text } })).score;
}

describe("a quantity", () => {
  it.each([
    ["12.5 km", { unit: "km", equals: 12.5 }],
    ["12,500 m", { unit: "km", equals: 12.5 }],
    ["12.500,00 m", { unit: "km", equals: 12.5, decimal: "," }],
    ["3 ft", { unit: "m", equals: 0.9144 }],
    ["90 minutes", { unit: "h", equals: 1.5 }],
    ["21 inches", { unit: "in", equals: 21 }],
    ["1.5 GiB", { unit: "MiB", equals: 1536 }],
    ["€ 1.234,50", { unit: "EUR", equals: 1234.5, decimal: "," }],
    ["1,234.50 EUR", { unit: "EUR", equals: 1234.5 }],
    ["$1,234", { unit: "USD", equals: 1234, signs: { $: "USD" } }],
    ["-$5", { unit: "USD", equals: -5, signs: { $: "USD" } }],
    ["−40 %", { unit: "%", equals: -40 }],
    ["1 234,5", { equals: 1234.5, decimal: "," }],
    ["1’234", { equals: 1234 }],
    [".5", { equals: 0.5 }],
    ["99.6", { equals: 100, relative_tolerance: 0.005 }],
    ["700", { min: 700 }],
  ])("of %s is what it says", async (text, assert) => {
    expect(await scoreOf(text, assert)).toBe(1);
  });

  it.each([
    ["21", { unit: "in", equals: 21 }],
    ["21 inches", { equals: 21 }],
    ["21 cm", { unit: "in", equals: 21 }],
    ["5 kg", { unit: "km", equals: 5 }],
    ["5 USD", { unit: "EUR", equals: 5 }],
    ["700", { below: 700 }],
    ["99.4", { equals: 100, relative_tolerance: 0.005 }],
  ])("of %s fails where the unit or the number is another", async (text, assert) => {
    expect(await scoreOf(text, assert)).toBe(0);
  });

  it.each([
    "",
    "many",
    "5 or 6",
    "5-10",
    "1,23",
    "1.234.5",
    "5 parsecs",
    "about 5",
    "$5",
    "km 5 km",
    "5 5",
    "0x10",
    "1e5",
    "NaN",
    "null",
    "9".repeat(500),
  ])("of %j is none, and ungraded", async (text) => {
    expect(await scoreOf(text, { equals: 5 })).toBeNull();
  });

  it("reads back every number that people write, in both ways of writing it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.constantFrom("en-US", "de-DE"),
        async (cents, locale) => {
          const text = (cents / 100).toLocaleString(locale, { minimumFractionDigits: 2 });
          expect(await scoreOf(text, { equals: cents / 100, decimal: locale === "en-US" ? "." : "," })).toBe(
            1,
          );
        },
      ),
    );
  });

  it("takes its expected value from a number of another query", async () => {
    const check = textCheck("q", "/q", {
      type: "quantity",
      unit: "kg",
      equals: { from: { channel: "fs", query: { kind: "number", path: "/n" } } },
    });
    expect(await grade(check, { files: { "/q": "2,000 g", "/n": "2" } })).toMatchObject({ score: 1 });
  });

  it("never counts null as 0", async () => {
    expect(await scoreOf("null", { equals: 0 })).toBeNull();
    expect(await scoreOf("", { equals: 0 })).toBeNull();
  });
});
