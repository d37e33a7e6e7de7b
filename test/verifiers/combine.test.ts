import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Child,
  combineAll,
  combineAny,
  combineNot,
  combineSequence,
  combineWeighted,
  isPass,
  type Outcome,
} from "../../src/verifiers/combine.js";

const S = (score: number): Outcome => ({ kind: "scored", score });
const U: Outcome = { kind: "ungraded", reason: "u" };
const K: Outcome = { kind: "skipped", reason: "k" };
const children = (...outcomes: Outcome[]): Child[] =>
  outcomes.map((outcome) => ({ outcome, weight: 1, threshold: 1 }));

describe("the truth tables of docs/verifiers.md", () => {
  it.each([
    ["all", combineAll, [S(1), S(1)], S(1)],
    ["all", combineAll, [S(1), S(0.5)], S(0.5)],
    ["all", combineAll, [S(0), U], S(0)],
    ["all", combineAll, [U, K], S(0)],
    ["all", combineAll, [S(1), U], U],
    ["all", combineAll, [S(0.5), U], U],
    ["any", combineAny, [S(0), S(0.5)], S(0.5)],
    ["any", combineAny, [S(1), U], S(1)],
    ["any", combineAny, [S(0.5), U], U],
    ["any", combineAny, [K, U], U],
    ["any", combineAny, [K, S(0)], S(0)],
    ["weighted", combineWeighted, [S(1), S(0)], S(0.5)],
    ["weighted", combineWeighted, [S(1), K], S(0.5)],
    ["weighted", combineWeighted, [S(0), U], U],
    ["sequence", combineSequence, [S(1), S(0), S(1), S(1)], S(0.25)],
    ["sequence", combineSequence, [S(1), S(0.5), S(1), S(1)], S(0.375)],
    ["sequence", combineSequence, [S(1), S(0), U], S(1 / 3)],
    ["sequence", combineSequence, [S(1), K, U], S(1 / 3)],
    ["sequence", combineSequence, [S(1), U, S(0)], U],
  ] as const)("%s", (_, combine, outcomes, expected) => {
    expect(combine(children(...outcomes))).toEqual(expected);
  });

  it("not turns a score around and leaves the rest", () => {
    expect([S(1), S(0), S(0.25), U, K].map(combineNot)).toEqual([S(0), S(1), S(0.75), U, K]);
  });
});

const anyScore = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 5, arbitrary: anyScore.map(S) },
  { weight: 1, arbitrary: fc.constant(U) },
  { weight: 1, arbitrary: fc.constant(K) },
);
const anyChild = fc.record({
  outcome: anyOutcome,
  weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
  threshold: fc.constantFrom(1, 0.5),
});
const anyChildren = fc.array(anyChild, { minLength: 1, maxLength: 6 });
const combinations = {
  all: combineAll,
  any: combineAny,
  weighted: combineWeighted,
  sequence: combineSequence,
};

describe.each(Object.entries(combinations))("%s", (_, combine) => {
  it("is graded only if no score of an ungraded child could change the result", () => {
    fc.assert(
      fc.property(anyChildren, fc.array(anyScore, { minLength: 6, maxLength: 6 }), (nodes, scores) => {
        const result = combine(nodes);
        if (result.kind !== "scored") return;
        const filled = nodes.map((node, index) =>
          node.outcome.kind === "ungraded" ? { ...node, outcome: S(scores[index] ?? 0) } : node,
        );
        expect(combine(filled)).toEqual(result);
      }),
    );
  });

  it("is ungraded only if two scores of the ungraded children give two results", () => {
    fc.assert(
      fc.property(anyChildren, (nodes) => {
        if (combine(nodes).kind !== "ungraded") return;
        const fill = (score: number) =>
          combine(
            nodes.map((node) => (node.outcome.kind === "ungraded" ? { ...node, outcome: S(score) } : node)),
          );
        expect(fill(0)).not.toEqual(fill(1));
      }),
    );
  });

  it("gives a score in [0,1] and never a pass to children that all failed", () => {
    fc.assert(
      fc.property(anyChildren, (nodes) => {
        const result = combine(nodes);
        if (result.kind === "scored") expect(result.score).toBeGreaterThanOrEqual(0);
        if (result.kind === "scored") expect(result.score).toBeLessThanOrEqual(1);
        const failed = combine(nodes.map((node) => ({ ...node, outcome: S(0) })));
        expect(failed).toEqual(S(0));
      }),
    );
  });

  it("gives exactly 1 where every child has 1, whatever the weights", () => {
    fc.assert(
      fc.property(anyChildren, (nodes) => {
        expect(combine(nodes.map((node) => ({ ...node, outcome: S(1) })))).toEqual(S(1));
      }),
    );
  });

  it("never falls when one child's score rises", () => {
    fc.assert(
      fc.property(anyChildren, fc.nat(), anyScore, (nodes, pick, higher) => {
        const at = pick % nodes.length;
        const old = nodes[at]?.outcome;
        const before = combine(nodes);
        if (old?.kind !== "scored" || before.kind !== "scored" || higher < old.score) return;
        const after = combine(
          nodes.map((node, index) => (index === at ? { ...node, outcome: S(higher) } : node)),
        );
        // Reaching further into a sequence may meet an ungraded child; a score may only rise.
        if (after.kind === "scored") expect(after.score).toBeGreaterThanOrEqual(before.score - 1e-12);
      }),
    );
  });
});

/** Scores that `1 - score` does not round: next to 0 it would give exactly 1. */
const exactScore = fc.integer({ min: 0, max: 64 }).map((part) => part / 64);

describe("all and any", () => {
  it("are each other's mirror under not", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(exactScore.map(S), fc.constant(U)), { minLength: 1, maxLength: 6 }),
        (outcomes) => {
          const left = combineNot(combineAll(children(...outcomes)));
          const right = combineAny(children(...outcomes.map(combineNot)));
          expect(left.kind).toBe(right.kind);
          if (left.kind === "scored" && right.kind === "scored")
            expect(left.score).toBeCloseTo(right.score, 12);
        },
      ),
    );
  });

  it("do not depend on the order of their children", () => {
    fc.assert(
      fc.property(anyChildren, (nodes) => {
        for (const combine of [combineAll, combineAny]) {
          expect(combine([...nodes].reverse())).toEqual(combine(nodes));
        }
      }),
    );
  });
});

it("a pass is a score that reaches its threshold; ungraded and skipped are none", () => {
  expect([S(1), S(0.999999), U, K].map((outcome) => isPass(outcome, 1))).toEqual([true, false, false, false]);
  expect(isPass(S(0.1 + 0.2), 0.3)).toBe(true);
  expect(isPass(S(0.7 - 1e-12), 0.7)).toBe(true);
});
