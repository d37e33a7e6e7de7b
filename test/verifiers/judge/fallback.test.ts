import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JudgeModel } from "../../../src/verifiers/index.js";
import type { JudgeReply } from "../../../src/verifiers/judge/model.js";
import { answerCheck, grade, silent } from "../support.js";

/** A judge in the process: replies by rule, so that thousands of graphs can be tried. */
function judgeThat(met: (id: string) => boolean): JudgeModel {
  return {
    model: "rule",
    ask: (request) => {
      const system = request.messages[0]?.content ?? "";
      const criteria = JSON.parse(system.slice(system.indexOf("Criteria:\n") + 10)) as {
        id: string;
        criterion: string;
      }[];
      const reply: JudgeReply = {
        content: JSON.stringify({
          criteria: criteria.map(({ id, criterion }) => ({
            id,
            reason: "rule",
            quote: "",
            met: criterion === "it holds" && met(id),
          })),
        }),
        toolCalls: [],
        model: "rule",
        promptTokens: 0,
        completionTokens: 0,
        cost: null,
      };
      return Promise.resolve(reply);
    },
  };
}

const episode = { ...silent, answer: "right", end: "done" as const };
const judgeOf = (id: string): object => ({
  id,
  judge: { criteria: [{ id: `${id}-q`, ask: "it holds", quote: false }], quorum: 1 },
});
/** A program that passes, fails, or cannot tell. */
const program = (id: string, way: "pass" | "fail" | "open"): object =>
  way === "open"
    ? { id, channel: "episode", query: { kind: "answer_number" }, assert: { type: "number", equals: 1 } }
    : answerCheck(id, way === "pass" ? "right" : "wrong");

describe("fallback", () => {
  const yes = judgeThat(() => true);

  it("takes the first child that can tell, and asks no judge where a program can", async () => {
    const verdict = await grade(
      { fallback: [program("p", "pass"), judgeOf("j")] },
      {},
      { judge: judgeThat(() => false), episode },
    );
    expect(verdict).toMatchObject({ score: 1, passed: true });
    expect(verdict.checks.map(({ id, status }) => [id, status])).toEqual([
      ["p", "passed"],
      ["j", "skipped"],
    ]);
  });

  it("asks the judge where the program cannot tell", async () => {
    expect(
      await grade({ fallback: [program("p", "open"), judgeOf("j")] }, {}, { judge: yes, episode }),
    ).toMatchObject({ score: 1 });
  });

  it("keeps a program's FAIL", async () => {
    expect(
      await grade({ fallback: [program("p", "fail"), judgeOf("j")] }, {}, { judge: yes, episode }),
    ).toMatchObject({
      score: 0,
      passed: false,
    });
  });

  it("lets a judge break the tie of a score that an author calls undecided", async () => {
    const tie = {
      id: "p",
      channel: "episode",
      query: { kind: "answer" },
      assert: { type: "text", contains: ["right", "left"], partial: true },
      undecided: { above: 0.2, below: 0.8 },
    };
    const verdict = await grade({ fallback: [tie, judgeOf("j")] }, {}, { judge: yes, episode });
    expect(verdict).toMatchObject({ score: 1 });
    expect(verdict.checks[0]).toMatchObject({ status: "ungraded" });
    expect((await grade(tie, {}, { episode })).reason).toContain("undecided: a score of 0.5");
  });

  it("asks nobody else where the machine could not be asked", async () => {
    const machine = {
      id: "m",
      channel: "fs",
      query: { kind: "text", path: "/a" },
      assert: { type: "text", equals: "x" },
    };
    const verdict = await grade(
      { fallback: [machine, judgeOf("j")] },
      {},
      {
        judge: yes,
        episode,
        fork: () => Promise.reject(new Error("no machine")),
      },
    );
    expect(verdict).toMatchObject({ status: "ungraded" });
  });

  it("is ungraded where nobody can tell", async () => {
    const verdict = await grade({ fallback: [program("a", "open"), program("b", "open")] }, {}, { episode });
    expect(verdict).toMatchObject({ status: "ungraded", score: null });
  });
});

describe("a judge beside programs", () => {
  it("is refused in any, where it could only overrule them", async () => {
    await expect(async () =>
      grade({ any: [program("p", "fail"), judgeOf("j")] }, {}, { episode }),
    ).rejects.toMatchObject({
      code: "bad_task",
      path: "graph.any[1]",
    });
  });

  it("is no milestone", async () => {
    await expect(async () =>
      grade({ ...judgeOf("j"), milestone: true }, {}, { episode }),
    ).rejects.toMatchObject({
      path: "graph.milestone",
    });
  });

  type Tree =
    | { program: "pass" | "fail" | "open" }
    | { judge: boolean }
    | { kind: string; children: Tree[]; threshold: number };
  const leaf = fc.oneof(
    fc.record({ program: fc.constantFrom("pass" as const, "fail" as const, "open" as const) }),
    fc.record({ judge: fc.boolean() }),
  );
  const tree = fc.letrec<{ node: Tree }>((tie) => ({
    node: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      fc.record({
        kind: fc.constantFrom("all", "any", "weighted", "sequence", "fallback", "not"),
        children: fc.array(tie("node"), { minLength: 1, maxLength: 4 }),
        threshold: fc.constantFrom(0.25, 0.5, 1),
      }),
    ),
  })).node;

  /** The graph of a tree, with its judges or without; undefined where nothing is left. */
  function graphFrom(node: Tree, withJudges: boolean, met: Map<string, boolean>): object | undefined {
    let count = 0;
    const build = (one: Tree): object | undefined => {
      const id = `n${count++}`;
      if ("program" in one) return program(id, one.program);
      if ("judge" in one) {
        met.set(`${id}-q`, one.judge);
        return withJudges ? judgeOf(id) : undefined;
      }
      const nodes = one.kind === "not" ? one.children.slice(0, 1) : one.children;
      const children = nodes.map(build).filter((child) => child !== undefined);
      if (children.length === 0) return undefined;
      const { threshold } = one;
      if (one.kind === "not") return { threshold, not: children[0] };
      // A judge in `any` beside programs is refused at load; under another node of its own it is not.
      const wrapped =
        one.kind === "any"
          ? children.map((child) => ("judge" in child ? { all: [child] } : child))
          : children;
      return { threshold, [one.kind]: wrapped };
    };
    return build(node);
  }

  it("never turns a programmatic FAIL into a pass, whatever it says and however the graph is built", async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.constantFrom(0.25, 0.5, 1), async (node, threshold) => {
        const met = new Map<string, boolean>();
        const whole = graphFrom(node, true, met);
        const programs = graphFrom(node, false, new Map());
        if (whole === undefined || programs === undefined) return;
        const wrap = (graph: object): object => ({ threshold, all: [graph] });
        const judge = judgeThat((id) => met.get(id) === true);
        const alone = await grade(wrap(programs), {}, { episode });
        const verdict = await grade(wrap(whole), {}, { judge, episode });
        if (alone.status === "graded" && alone.passed === false) expect(verdict.passed).not.toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});
