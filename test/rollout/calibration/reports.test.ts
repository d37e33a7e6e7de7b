import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  agreements,
  type Case,
  type DiffCase,
  differs,
  diffVerdicts,
  lineOf,
  parseRecord,
  renderAgreements,
  renderDiff,
  renderTriage,
  suspicions,
  triage,
  casesOfRecord,
  type VerdictRecord,
} from "../../../src/rollout/calibration/index.js";

type Word = "passed" | "failed" | "ungraded";

function verdict(word: Word | null, change: Partial<VerdictRecord> = {}): VerdictRecord | null {
  if (word === null) return null;
  const passed = word === "ungraded" ? null : word === "passed";
  const status = word === "ungraded" ? "ungraded" : "graded";
  return { status, passed, score: passed === null ? null : Number(passed), checks: [], ...change };
}

function make(id: string, change: Partial<Case> = {}): Case {
  const nothing = { task: "t", label: null, note: null, by: null, agreed: false, verdict: null, judge: null };
  return { id, ...nothing, ...change };
}

const words = fc.constantFrom<Word>("passed", "failed", "ungraded");
const cases = fc
  .array(
    fc.record({
      label: fc.constantFrom("right", "nearly", "wrong", null),
      word: words,
      opinion: fc.option(words),
      score: fc.integer({ min: 0, max: 4 }),
    }),
    { maxLength: 30 },
  )
  .map((drawn) =>
    drawn.map(({ label, word, opinion, score }, index) =>
      make(`s${index}`, {
        label,
        verdict: verdict(word, word === "failed" ? { score: score / 5 } : {}),
        judge: verdict(opinion),
      }),
    ),
  );

describe("the agreement of a grader with people", () => {
  const some = [
    make("a", { label: "right", verdict: verdict("passed"), judge: verdict("failed") }),
    make("b", { label: "right", verdict: verdict("failed"), note: "why", by: "me" }),
    make("c", { label: "wrong", verdict: verdict("failed") }),
    make("d", { label: "wrong", verdict: verdict("ungraded", { reason: "no machine" }) }),
    make("e", { label: "nearly", verdict: verdict("passed") }),
    make("f", { label: "nearly", verdict: verdict("failed") }),
    make("g", { verdict: verdict("passed") }),
  ];

  it("counts what people argue about in three ways, and what is ungraded beside", () => {
    const [program, judge] = agreements(some);
    expect(program).toMatchObject({ grader: "program", cases: 6, ungraded: 1 });
    expect(program?.table).toEqual({
      right: { passed: 1, failed: 1, ungraded: 0 },
      nearly: { passed: 1, failed: 1, ungraded: 0 },
      wrong: { passed: 0, failed: 1, ungraded: 1 },
    });
    expect(program?.without_nearly.agreement).toMatchObject({ n: 3, count: 2 });
    expect(program?.nearly_as_right.agreement).toMatchObject({ n: 5, count: 3 });
    expect(program?.nearly_as_wrong.agreement).toMatchObject({ n: 5, count: 3 });
    expect(program?.nearly_as_wrong.false_passes).toMatchObject({ n: 3, count: 1 });
    expect(program?.without_nearly.false_fails).toMatchObject({ n: 2, count: 1 });
    expect(judge).toMatchObject({ grader: "judge", cases: 1, disagreements: [{ id: "a" }] });
  });

  it("lists each disagreement with its note and the checks that tell why", () => {
    const check = { status: "failed", score: 0, weight: 1, evidence: "saw 3\nwanted 4" } as const;
    const one = verdict("failed", {
      checks: [
        { ...check, id: "x" },
        { ...check, id: "y", status: "passed", score: 1 },
      ],
    });
    const reports = agreements([make("b", { label: "right", note: "It is right.", by: "me", verdict: one })]);
    expect(reports[0]?.disagreements).toMatchObject([
      { id: "b", label: "right", by: "me", note: "It is right.", checks: [{ id: "x" }] },
    ]);
    const text = renderAgreements(reports);
    expect(text).toContain("b: right, graded failed (0.00) (by me)");
    expect(text).toContain("x failed: saw 3 wanted 4");
    expect(text).not.toContain("y passed");
  });

  it("names the states marked as agreed that no longer do, also by an ungraded verdict", () => {
    const [report] = agreements(
      ["passed", "failed", "ungraded"].map((word) =>
        make(word, { label: "right", agreed: true, verdict: verdict(word as Word) }),
      ),
    );
    expect(report?.broken).toEqual(["failed", "ungraded"]);
  });

  it("counts every labelled case once, agreement being what the confusion table says", () => {
    fc.assert(
      fc.property(cases, (all) => {
        for (const report of agreements(all)) {
          const { right, nearly, wrong } = report.table;
          const sum = (...rows: (typeof right)[]) =>
            rows.reduce((total, row) => total + row.passed + row.failed, 0);
          expect(sum(right, nearly, wrong) + report.ungraded).toBe(report.cases);
          expect(report.without_nearly.agreement.n).toBe(sum(right, wrong));
          expect(report.without_nearly.agreement.count).toBe(right.passed + wrong.failed);
          expect(report.disagreements).toHaveLength(sum(right, wrong) - right.passed - wrong.failed);
          expect(report.nearly_as_right.agreement.n).toBe(report.nearly_as_wrong.agreement.n);
        }
      }),
    );
  });

  it("survives being recorded and read again", () => {
    fc.assert(
      fc.property(cases, (all) => {
        fc.pre(all.length > 0);
        const text = all.map((one) => `${JSON.stringify(lineOf(one))}\n`).join("");
        const [again, before] = [agreements(casesOfRecord(parseRecord(text, "r"))), agreements(all)];
        expect(again).toEqual(before);
      }),
    );
  });
});

describe("a difference of verdicts", () => {
  const check = (status: "passed" | "failed", evidence = "") => ({
    id: "x",
    status,
    score: Number(status === "passed"),
    weight: 1,
    evidence,
  });

  it("is what changed in status, score or pass, check by check", () => {
    const report = diffVerdicts([
      { id: "same", label: null, before: verdict("passed"), after: verdict("passed") },
      {
        id: "flipped",
        label: "wrong",
        before: verdict("passed", { checks: [check("passed")] }),
        after: verdict("failed", { checks: [check("failed", "saw 1"), { ...check("passed"), id: "new" }] }),
      },
      {
        id: "inside",
        label: null,
        before: verdict("failed", { score: 0.5, checks: [check("passed")] }),
        after: verdict("failed", { score: 0.5, checks: [check("failed")] }),
      },
    ]);
    expect(report.changed.map(({ id, fields, checks }) => [id, fields, checks.map((one) => one.id)])).toEqual(
      [
        ["flipped", ["score", "passed"], ["x", "new"]],
        ["inside", [], ["x"]],
      ],
    );
    expect(differs(report)).toBe(true);
    expect(renderDiff(report)).toContain("flipped (wrong): passed (1.00) -> failed (0.00)");
    expect(renderDiff(report)).toContain("new: none -> passed (1.00)");
    expect(renderDiff(report)).toContain(
      "inside: failed (0.50) as before; x: passed (1.00) -> failed (0.00)",
    );
  });

  it("begins with verdicts that changed, then scores, then checks alone", () => {
    const failed = (score: number, status: "passed" | "failed") =>
      verdict("failed", { score, checks: [check(status)] });
    const report = diffVerdicts([
      { id: "checks", label: null, before: failed(0, "passed"), after: failed(0, "failed") },
      { id: "score", label: null, before: failed(0, "failed"), after: failed(0.5, "failed") },
      { id: "verdict", label: null, before: failed(0, "failed"), after: verdict("ungraded") },
    ]);
    expect(report.changed.map(({ id, depth }) => [id, depth])).toEqual(
      ["verdict", "score", "checks"].map((name) => [name, name]),
    );
  });

  it("is none where only evidence and versions differ", () => {
    const [before, after] = ["1.0.0", "1.0.1"].map((version) =>
      verdict("passed", { task_version: version, checks: [check("passed", version)] }),
    );
    const report = diffVerdicts([{ id: "a", label: null, before: before ?? null, after: after ?? null }]);
    expect(differs(report)).toBe(false);
  });

  it("is also a verdict that one side does not have", () => {
    const gone: DiffCase = { id: "a", label: null, before: verdict("passed"), after: null };
    const report = diffVerdicts([gone]);
    expect(report).toMatchObject({ compared: 0, missing_after: ["a"], missing_before: [] });
    expect(differs(report)).toBe(true);
  });

  it("of anything with itself is none", () => {
    fc.assert(
      fc.property(cases, (all) => {
        const pairs = all.map(({ id, label, verdict: one }) => ({ id, label, before: one, after: one }));
        expect(differs(diffVerdicts(pairs))).toBe(false);
      }),
    );
  });
});

describe("triage", () => {
  const order = (...all: Case[]) => triage(all, () => null).map(({ id }) => id);

  it("begins where a person and a judge contradict the program, and ends where nobody does", () => {
    const ranked: [string, Partial<Case>][] = [
      ["both", { label: "wrong", verdict: verdict("passed"), judge: verdict("failed") }],
      ["person", { label: "wrong", verdict: verdict("passed") }],
      ["person, not the judge", { label: "wrong", verdict: verdict("passed"), judge: verdict("passed") }],
      ["no verdict", { label: "right", verdict: verdict("ungraded"), judge: verdict("passed") }],
      ["judge alone", { label: "nearly", verdict: verdict("passed"), judge: verdict("failed") }],
      ["judge against both", { label: "right", verdict: verdict("passed"), judge: verdict("failed") }],
      ["argued", { label: "nearly", verdict: verdict("passed") }],
      ["agreed", { label: "right", verdict: verdict("passed"), judge: verdict("passed") }],
    ];
    const found = triage(ranked.map(([id, change]) => make(id, change)).reverse(), () => null);
    expect(found.map(({ id }) => id)).toEqual(ranked.map(([id]) => id));
    expect(found.map(({ rank }) => rank)).toEqual([...suspicions.keys()]);
    expect(renderTriage(found, ["later"])).toContain("1 of 8: nobody contradicts the program");
    expect(renderTriage(found, ["later"])).toContain("without a verdict: later");
  });

  it("puts passes before fails, then the higher score, then the name", () => {
    const fails = (id: string, score: number) =>
      make(id, { label: "right", verdict: verdict("failed", { score }) });
    expect(
      order(
        fails("d", 0.2),
        fails("c", 0.2),
        fails("b", 0.9),
        make("z", { label: "wrong", verdict: verdict("passed") }),
      ),
    ).toEqual(["z", "b", "c", "d"]);
  });

  it("keeps every case that has a verdict, in one order whatever they come in", () => {
    fc.assert(
      fc.property(cases, (all) => {
        expect(order(...[...all].reverse())).toEqual(order(...all));
        expect(order(...all)).toHaveLength(all.length);
        const ranks = triage(all, () => null).map(({ rank }) => rank);
        expect(ranks).toEqual([...ranks].sort());
      }),
    );
  });

  it("never lets a judge put a case that people agree with the program on before one that they do not", () => {
    fc.assert(
      fc.property(fc.option(words), fc.option(words), (one, other) => {
        const against = make("b", { label: "wrong", verdict: verdict("passed"), judge: verdict(one) });
        const along = make("a", { label: "wrong", verdict: verdict("failed"), judge: verdict(other) });
        expect(order(along, against)).toEqual(["b", "a"]);
      }),
    );
  });
});
