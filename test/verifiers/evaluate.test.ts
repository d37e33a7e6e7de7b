import { afterAll, describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { closePool, evaluateGraph, evaluateMilestones } from "../../src/verifiers/index.js";
import { MemorySandbox } from "../support/memory-sandbox.js";
import { answerCheck, contextOf, grade, graphOf, silent, textCheck, timeless } from "./support.js";

afterAll(closePool);

const files = { "/home/agent/a.txt": "alpha\n", "/home/agent/b.txt": "beta\n" };
const a = textCheck("a", "/home/agent/a.txt", { equals: "alpha\n" });
const b = textCheck("b", "/home/agent/b.txt", { equals: "beta\n" });
const wrong = textCheck("wrong", "/home/agent/a.txt", { equals: "omega" });
const missing = textCheck("missing", "/home/agent/none.txt", { contains: "x" });
const malformed = {
  id: "malformed",
  channel: "fs",
  query: { kind: "json", path: "/home/agent/a.txt" },
  assert: { type: "json", exists: true },
};

describe("a verdict", () => {
  it("passes where every check holds, and shows evidence for each", async () => {
    const verdict = await grade({ all: [a, b] }, { files });
    expect(verdict).toMatchObject({ status: "graded", score: 1, passed: true });
    expect(verdict.checks.map(({ id, status, score }) => [id, status, score])).toEqual([
      ["a", "passed", 1],
      ["b", "passed", 1],
    ]);
    expect(verdict.checks[0]?.evidence).toContain("alpha");
  });

  it("fails a check on a file that is not there: absence is an answer", async () => {
    const verdict = await grade({ all: [a, missing] }, { files });
    expect(verdict).toMatchObject({ status: "graded", score: 0, passed: false });
    expect(verdict.checks[1]).toMatchObject({
      status: "failed",
      score: 0,
      evidence: "there is nothing at /home/agent/none.txt",
    });
  });

  it("is ungraded, with null instead of a score, where a value is malformed", async () => {
    const verdict = await grade({ all: [a, malformed] }, { files });
    expect(verdict).toMatchObject({ status: "ungraded", score: null, passed: null });
    expect(verdict.reason).toMatch(/^malformed: .*is not JSON/);
  });

  it("fails a malformed value only where the author says so", async () => {
    const verdict = await grade({ ...malformed, on_error: "fail" }, { files });
    expect(verdict).toMatchObject({ status: "graded", score: 0, passed: false });
  });

  it("is the same twice, times aside", async () => {
    const graph = { weighted: [a, wrong, malformed, missing] };
    expect(timeless(await grade(graph, { files }))).toEqual(timeless(await grade(graph, { files })));
  });

  it("gives the same scores in reversed order", async () => {
    const nodes = [a, wrong, b, missing];
    const forward = await grade({ weighted: nodes }, { files });
    const backward = await grade({ weighted: [...nodes].reverse() }, { files });
    expect(backward.score).toBe(forward.score);
    expect([...backward.checks].reverse().map(({ id, score }) => [id, score])).toEqual(
      forward.checks.map(({ id, score }) => [id, score]),
    );
  });

  it("names the verifier's version, which changes with the graph", () => {
    const one = graphOf({ all: [a] }).verifierVersion;
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(graphOf({ all: [a] }).verifierVersion).toBe(one);
    expect(graphOf({ all: [b] }).verifierVersion).not.toBe(one);
  });

  it("compares with the graph's threshold and keeps the score", async () => {
    const loaded = graphOf({ weighted: [a, { ...wrong, weight: 1 }] }, { threshold: 0.5 });
    expect(await evaluateGraph(loaded, contextOf(new MemorySandbox({ files })))).toMatchObject({
      score: 0.5,
      passed: true,
    });
  });

  it("streams each check in graph order", async () => {
    const seen: string[] = [];
    await grade(
      { all: [b, wrong, a] },
      { files },
      { onCheck: ({ id, status }) => seen.push(`${id} ${status}`) },
    );
    expect(seen).toEqual(["b passed", "wrong failed", "a passed"]);
  });
});

describe("needs", () => {
  it("skips a check whose need did not pass, and counts it as 0", async () => {
    const verdict = await grade({ weighted: [wrong, { ...a, needs: ["wrong"] }] }, { files });
    expect(verdict.score).toBe(0);
    expect(verdict.checks[1]).toMatchObject({
      status: "skipped",
      score: null,
      evidence: "needs wrong, which did not pass",
    });
  });

  it("leaves a check ungraded whose need is ungraded", async () => {
    const verdict = await grade({ any: [malformed, { ...a, needs: ["malformed"] }] }, { files });
    expect(verdict.checks[1]).toMatchObject({ status: "ungraded", score: null });
    expect(verdict.status).toBe("ungraded");
  });

  it("does not reward skipping through not", async () => {
    const verdict = await grade({ all: [{ not: { ...missing, needs: ["wrong"] } }, wrong] }, { files });
    expect(verdict.score).toBe(0);
    const alone = await grade(
      { weighted: [{ not: { ...missing, needs: ["wrong"] } }, { ...wrong, weight: 3 }] },
      { files },
    );
    expect(alone.score).toBe(0);
  });

  it("may name a node that stands later, and a combination", async () => {
    const verdict = await grade(
      {
        all: [
          { ...a, needs: ["both"] },
          { id: "both", any: [wrong, b] },
        ],
      },
      { files },
    );
    expect(verdict.score).toBe(1);
  });
});

describe("grading forks", () => {
  it("are one for all checks of a verdict, and closed", async () => {
    const machine = new MemorySandbox({ files, processes: [{ name: "nginx" }] });
    const running = (id: string) => ({
      id,
      channel: "process",
      query: { kind: "count", name: "nginx" },
      assert: { type: "number", min: 1 },
    });
    await grade({ all: [a, b, running("p"), running("q"), wrong] }, machine);
    expect(machine.counters).toMatchObject({ forks: 1, open: 0 });
    expect(machine.counters.calls.filter((call) => call.includes("processes"))).toHaveLength(1);
    expect(machine.counters.calls.filter((call) => call.includes("read /home/agent/a.txt"))).toHaveLength(1);
  });

  it("are not taken for questions about the episode alone", async () => {
    const machine = new MemorySandbox();
    const verdict = await grade(answerCheck("x", "42"), machine, {
      episode: { ...silent, answer: "42", end: "done" },
    });
    expect(verdict.score).toBe(1);
    expect(machine.counters.forks).toBe(0);
  });

  it("are a check's own where it mutates, so that no other check sees the change", async () => {
    const machine = new MemorySandbox({
      files,
      commands: {
        "/usr/bin/break": (_, guest) => {
          guest.put("/home/agent/a.txt", "broken");
          return { out: "{}" };
        },
      },
    });
    const breaking = {
      id: "breaking",
      channel: "exec-json",
      query: { argv: ["/usr/bin/break"] },
      assert: { type: "json", exists: true },
      mutates: true,
    };
    const verdict = await grade({ all: [breaking, a] }, machine);
    expect(verdict.score).toBe(1);
    expect(machine.counters).toMatchObject({ forks: 2, open: 0 });
  });

  it("that cannot be taken leave the checks ungraded", async () => {
    const verdict = await grade(
      { all: [a] },
      {},
      { fork: () => Promise.reject(new ShinkenError("machine_died", "gone")) },
    );
    expect(verdict).toMatchObject({ status: "ungraded", score: null, reason: "a: machine_died: gone" });
  });
});

describe("a deadline", () => {
  it("leaves a stuck check ungraded, gives its fork up, and grades the rest in another", async () => {
    const machine = new MemorySandbox({ files });
    machine.hang.add("/home/agent/a.txt");
    const verdict = await grade({ weighted: [{ ...a, deadline_ms: 30 }, b] }, machine);
    expect(verdict.checks.map(({ status }) => status)).toEqual(["ungraded", "passed"]);
    expect(verdict.checks[0]?.evidence).toBe("timeout: no result after 30 ms");
    expect(machine.counters).toMatchObject({ forks: 2, open: 0 });
  });

  it("stays ungraded even with on_error: fail", async () => {
    const machine = new MemorySandbox({ files });
    machine.hang.add("*");
    const verdict = await grade(
      { ...a, deadline_ms: 30, on_error: "fail" },
      {},
      { fork: () => Promise.resolve(machine) },
    );
    expect(verdict).toMatchObject({ status: "ungraded", score: null });
    expect(machine.closed).toBe(true);
  });

  it("ends a pattern that backtracks without end, and the fork lives on", async () => {
    const machine = new MemorySandbox({ files: { ...files, "/evil": `${"a".repeat(40)}!` } });
    const evil = textCheck("evil", "/evil", { matches: "^(a+)+$" }, { deadline_ms: 300 });
    const verdict = await grade({ weighted: [evil, b] }, machine);
    expect(verdict.checks.map(({ status }) => status)).toEqual(["ungraded", "passed"]);
    expect(machine.counters).toMatchObject({ forks: 1, open: 0 });
  });
});

describe("cancelling", () => {
  it("rejects with cancelled and closes the forks", async () => {
    const machine = new MemorySandbox({ files });
    machine.hang.add("/home/agent/a.txt");
    const controller = new AbortController();
    const grading = grade({ all: [a, b] }, machine, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(grading).rejects.toMatchObject({ code: "cancelled" });
    expect(machine.counters.open).toBe(0);
  });
});

describe("milestones", () => {
  const graph = {
    weighted: [
      { ...a, milestone: true, weight: 2 },
      { ...b, milestone: true, revocable: true, weight: 3 },
      { ...wrong, milestone: true, needs: ["a"] },
      textCheck("later", "/home/agent/later", { equals: "x" }),
    ],
  };

  it("are earned by weight, and only milestones are evaluated", async () => {
    const report = await evaluateMilestones(graphOf(graph), contextOf(new MemorySandbox({ files })));
    expect(report.earned).toEqual([
      { id: "a", weight: 2, revocable: false, dense: false },
      { id: "b", weight: 3, revocable: true, dense: false },
    ]);
    expect(report.results.map(({ id }) => id)).toEqual(["a", "b", "wrong"]);
  });

  it("stay earned, are not asked again, and satisfy those who need them", async () => {
    const machine = new MemorySandbox({ files: { "/home/agent/b.txt": "beta\n" } });
    const report = await evaluateMilestones(graphOf(graph), contextOf(machine), new Set(["a", "b"]));
    expect(report.results.map(({ id, status }) => [id, status])).toEqual([
      ["b", "passed"],
      ["wrong", "failed"],
    ]);
    expect(report).toMatchObject({ earned: [], lost: [] });
  });

  it("are lost where they are revocable and no longer hold", async () => {
    const report = await evaluateMilestones(
      graphOf(graph),
      contextOf(new MemorySandbox({})),
      new Set(["a", "b"]),
    );
    expect(report.lost.map(({ id }) => id)).toEqual(["b"]);
  });

  it("need no fork once all are earned for good", async () => {
    const machine = new MemorySandbox({ files });
    const report = await evaluateMilestones(
      graphOf({ all: [{ ...a, milestone: true }] }),
      contextOf(machine),
      new Set(["a"]),
    );
    expect(report.results).toEqual([]);
    expect(machine.counters.forks).toBe(0);
  });

  it("that are ungraded are neither earned nor lost", async () => {
    const loaded = graphOf({ all: [{ ...malformed, milestone: true, revocable: true }] });
    const report = await evaluateMilestones(
      loaded,
      contextOf(new MemorySandbox({ files })),
      new Set(["malformed"]),
    );
    expect(report).toMatchObject({ earned: [], lost: [] });
    expect(report.results[0]?.status).toBe("ungraded");
  });
});
