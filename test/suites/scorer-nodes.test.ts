/** Published scorers as nodes of check graphs, on scripted machines. */
import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { publishedScorers, scorerIds } from "../../src/suites/index.js";
import { closePool, evaluateGraph, type GradeContext, type Verdict } from "../../src/verifiers/index.js";
import { MemorySandbox } from "../support/memory-sandbox.js";
import { answerCheck, contextOf, graphOf, silent } from "../verifiers/support.js";

afterAll(closePool);

const answer = { from: { channel: "episode", query: { kind: "answer" } } };
const text = (path: string) => ({ from: { channel: "fs", query: { kind: "text", path } } });
const gaia = (gold: unknown, more: object = {}) => ({
  id: "gaia",
  scorer: "gaia.question.v1/strict",
  input: { answer, gold },
  ...more,
});

interface Given {
  said?: string | null;
  files?: Record<string, string>;
  assets?: Record<string, string>;
  context?: Partial<GradeContext>;
}

const assetsOf = (given: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(given).map(([name, content]) => [
      name,
      { sha256: createHash("sha256").update(content).digest("hex"), for: "grading" as const },
    ]),
  );

function grade(
  graph: unknown,
  { said = null, files = {}, assets = {}, context = {} }: Given = {},
): Promise<Verdict> {
  const loaded = graphOf(graph, { scorers: publishedScorers, assets: assetsOf(assets) });
  const readAsset = (name: string) => Promise.resolve(Buffer.from(assets[name] ?? ""));
  const episode = { ...silent, answer: said, end: "done" as const };
  return evaluateGraph(loaded, contextOf(new MemorySandbox({ files }), { readAsset, episode, ...context }));
}

function refusal(graph: unknown, scorers = publishedScorers): ShinkenError {
  try {
    graphOf(graph, { scorers });
  } catch (error) {
    if (error instanceof ShinkenError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a scorer node", () => {
  it("scores what its queries answer, by the profile that it names", async () => {
    const right = await grade(gaia("1234.5"), { said: "$1,234.50" });
    expect(right).toMatchObject({ status: "graded", score: 1, passed: true });
    expect(right.checks[0]?.evidence).toContain("gaia.question.v1/strict scores 1");
    expect(await grade(gaia("inf"), { said: "any words" })).toMatchObject({ score: 0 });
    const faithful = { ...gaia("inf"), scorer: "gaia.question.v1/faithful" };
    expect(await grade(faithful, { said: "any words" })).toMatchObject({ score: 1 });
  });

  it("fails where nothing is there to score, unless it says what stands for it", async () => {
    expect(await grade(gaia("None"))).toMatchObject({ status: "graded", score: 0 });
    const none = {
      scorer: "gaia.question.v1/faithful",
      input: { answer: { ...answer, absent: null }, gold: "None" },
    };
    expect(await grade({ ...gaia("None"), ...none })).toMatchObject({ score: 1 });
  });

  it("takes references at any depth, assets, and literals that look like references", async () => {
    const cells = {
      id: "cells",
      scorer: "sheetbench.cells.v1/strict",
      input: { expected: { asset: "gold/cells.json", as: "json" }, copied: text("/a.tsv") },
    };
    const assets = { "gold/cells.json": '{"A1":"x","B2":"3"}' };
    expect(await grade(cells, { files: { "/a.tsv": "x\t1\n2\t4" }, assets })).toMatchObject({ score: 0.5 });
    const lists = (b: unknown) => ({
      id: "lists",
      scorer: "osworld.are_lists_equal.v1/strict",
      input: { a: [{ from: { channel: "fs", query: { kind: "json", path: "/a.json" } } }], b },
    });
    const files = { "/a.json": '{"asset":"x"}' };
    expect(await grade(lists([{ literal: { asset: "x" } }]), { files })).toMatchObject({ score: 1 });
    expect(await grade(lists([{ asset: "x" }]), { files, assets: { x: "x" } })).toMatchObject({ score: 0 });
  });

  it("stands beside checks, in combinations and with needs", async () => {
    const graph = {
      weighted: [answerCheck("exact", "7"), gaia("7", { id: "scored", needs: ["exact"], weight: 3 })],
    };
    expect(await grade(graph, { said: "7" })).toMatchObject({ score: 1 });
    const other = await grade(graph, { said: " 7" });
    expect(other.checks.map(({ status }) => status)).toEqual(["failed", "skipped"]);
  });

  it("is ungraded by a fault of the published program, or fails where its author says so", async () => {
    const node = {
      id: "points",
      scorer: "tac.credit.v1/strict",
      input: { total: 3, result: { from: { channel: "fs", query: { kind: "number", path: "/n" } } } },
    };
    const files = { "/n": "5\n" };
    const verdict = await grade(node, { files });
    expect(verdict).toMatchObject({ status: "ungraded", score: null });
    expect(verdict.reason).toContain("points: tac.credit.v1/strict:");
    expect(await grade({ ...node, on_error: "fail" }, { files })).toMatchObject({
      status: "graded",
      score: 0,
    });
  });

  it("is ungraded by a value of another type than its scorer takes", async () => {
    const node = {
      ...gaia("1"),
      input: { answer: { from: { channel: "fs", query: { kind: "json", path: "/a" } } }, gold: "1" },
    };
    const verdict = await grade(node, { files: { "/a": "1" } });
    expect(verdict).toMatchObject({ status: "ungraded" });
    expect(verdict.reason).toContain("answer:");
  });

  it("that needs a judge leaves the question to who stands behind it, and is never a 0", async () => {
    const fuzzy = {
      id: "fuzzy",
      scorer: "wa.string.v1/strict",
      on_error: "fail",
      input: { answer, reference_answers: { fuzzy_match: ["a refund"] } },
    };
    const alone = await grade(fuzzy, { said: "money back" });
    expect(alone).toMatchObject({ status: "ungraded", score: null });
    expect(alone.reason).toContain("NeedsJudge");
    const both = await grade(
      { fallback: [fuzzy, answerCheck("exact", "money back")] },
      { said: "money back" },
    );
    expect(both).toMatchObject({ status: "graded", score: 1 });
  });

  it("that would take for ever is ended by its deadline, and is no 0", async () => {
    const list = (last: number) =>
      JSON.stringify(
        Array.from({ length: 100_000 }, (_, index) => [index === 99_999 ? last : index]).reverse(),
      );
    const json = (path: string) => ({ from: { channel: "fs", query: { kind: "json", path } } });
    const node = {
      id: "endless",
      scorer: "osworld.are_lists_equal.v1/strict",
      deadline_ms: 1_000,
      on_error: "fail",
      input: { a: json("/a"), b: json("/b") },
    };
    // Every one of a is looked for from the wrong end of b.
    const a = JSON.stringify(Array.from({ length: 100_000 }, (_, index) => [index]));
    const verdict = await grade(node, { files: { "/a": a, "/b": list(-1) } });
    expect(verdict).toMatchObject({ status: "ungraded", score: null });
    expect(verdict.reason).toContain("timeout");
  });

  it("has a version that its id, its input and the order of its fields decide", () => {
    const versionOf = (node: object): string => graphOf(node, { scorers: publishedScorers }).verifierVersion;
    const input = (reference_answers: object) => ({
      id: "v",
      scorer: "vwa.string.v1/faithful",
      input: { answer, reference_answers },
    });
    const versions = [
      gaia("1"),
      gaia("2"),
      { ...gaia("1"), scorer: "gaia.question.v1/faithful" },
      input({ required_values: ["= 1"], must_include: ["1"] }),
      input({ must_include: ["1"], required_values: ["= 1"] }),
    ].map(versionOf);
    expect(new Set(versions).size).toBe(versions.length);
  });
});

describe("a scorer node is refused at load", () => {
  it.each([
    ["an unknown name", { scorer: "gaia.qestion.v1/strict" }, "graph.scorer", "gaia.question.v1/strict"],
    [
      "a name without version and profile",
      { scorer: "gaia.question" },
      "graph.scorer",
      "gaia.question.v1/faithful",
    ],
    ["a scorer that never grades", { scorer: "osworld.relative_time.v1/strict" }, "graph.scorer", ""],
    ["a misspelt field", { input: { answer, gold: "1", golb: "1" } }, "graph.input.golb", ""],
    ["a field that is nearly another", { input: { answer, golld: "1" } }, "graph.input.golld", "gold"],
    ["a literal of another type", { input: { answer, gold: 1 } }, "graph.input.gold", ""],
    ["nothing that is read", { input: { answer: "1", gold: "1" } }, "graph.input", "from"],
    [
      "an unknown channel",
      { input: { answer: { from: { channel: "fss", query: {} } }, gold: "1" } },
      "graph.input.answer.from.channel",
      "fs",
    ],
    [
      "a file's properties",
      { input: { answer: { from: { channel: "fs", query: { kind: "file", path: "/a" } } }, gold: "1" } },
      "graph.input.answer.from",
      "",
    ],
    [
      "an asset that is not there",
      { input: { answer, gold: { asset: "gold.txt" } } },
      "graph.input.gold.asset",
      "",
    ],
    [
      "an asset in another form",
      { input: { answer, gold: { asset: "gold.txt", as: "yaml" } } },
      "graph.input.gold.as",
      "",
    ],
  ])("for %s, by its place", (_, change, path, suggests) => {
    const error = refusal({ ...gaia("1"), ...change });
    expect({ code: error.code, path: error.path }).toEqual({ code: "bad_task", path });
    expect(error.suggestion ?? "").toContain(suggests);
  });

  it("where whoever loads it has no scorers, and says what to do", () => {
    const error = (() => {
      try {
        return graphOf(gaia("1"));
      } catch (caught) {
        return caught as ShinkenError;
      }
    })();
    expect(error).toMatchObject({ code: "bad_task", path: "graph.scorer" });
  });
});

describe("the library of published scorers", () => {
  it("holds all that grade, and only those", () => {
    const left = scorerIds.filter((id) => !publishedScorers.ids.includes(id)).map((id) => id.split("/")[0]);
    expect(new Set(left)).toEqual(
      new Set(["hud.call.v1", "mind2web.postprocess.v1", "osworld.relative_time.v1", "webjudge.score.v1"]),
    );
  });
});
