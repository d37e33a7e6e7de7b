import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkKey, contractSchema, grade, reasons } from "../../src/smolcua/index.js";
import { exactOf, plainOf, readJson } from "../../src/smolcua/scorer/strict-json.js";

interface Line {
  id: string;
  contract: unknown;
  key: unknown;
  answer: string | null;
  correct: boolean;
  reason: string;
  correct_without_fence: boolean;
}

/** The same file holds the scorer in Python (`bindings/python/tests/test_smolcua.py`). */
const corpus = readFileSync(join(import.meta.dirname, "corpus.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => {
    const read = readJson(line);
    if (!("value" in read) || !(read.value instanceof Map)) throw new Error(`no line of the corpus: ${line}`);
    const plain = plainOf(read.value) as Line;
    // Numbers of a key by their exact value.
    return plain.contract !== null && (plain.contract as { kind: string }).kind === "json"
      ? { ...plain, key: read.value.get("key") }
      : plain;
  });

describe("the corpus of answers", () => {
  it("has at least 300, with every reason that a contract can give", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(300);
    const met = new Set(corpus.map(({ reason }) => reason));
    expect(Object.keys(reasons).filter((reason) => !met.has(reason) && reason !== "too_long")).toEqual([]);
  });

  it.each(corpus)("$id is $reason", ({ contract, key, answer, correct, reason, correct_without_fence }) => {
    const parsed = contractSchema.parse(contract);
    expect(() => {
      checkKey(parsed, key);
    }).not.toThrow();
    expect(grade(parsed, key, answer)).toEqual({
      correct,
      reason,
      correctWithoutFence: correct_without_fence,
    });
  });
});

describe("an answer's length", () => {
  const literal = { kind: "literal" } as const;
  it("is bounded before anything is read, white space included", () => {
    expect(grade(literal, "x", "x".repeat(65_537)).reason).toBe("too_long");
    expect(grade(literal, "x", `${" ".repeat(65_536)}x`).reason).toBe("too_long");
    expect(grade(literal, "x", `${" ".repeat(65_535)}x`).correct).toBe(true);
    expect(grade(literal, "x", "😀".repeat(32_768)).reason).toBe("wrong_value");
    expect(grade(literal, "x", "😀".repeat(32_769)).reason).toBe("too_long");
  });

  it("costs no more than its length, whatever stands in it", () => {
    const spaces = " ".repeat(30_000);
    expect(grade(literal, "x", `a${spaces}b${spaces}c`).reason).toBe("wrong_value");
    expect(grade({ kind: "json", type: "array" }, [], "[".repeat(65_000)).reason).toBe("too_deep");
    expect(exactOf([1, "a"])).toHaveLength(2);
  });
});
