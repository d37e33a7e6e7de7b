import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { closePool, evaluateGraph, type Verdict } from "../../../src/verifiers/index.js";
import { MemorySandbox } from "../../support/memory-sandbox.js";
import { contextOf, graphOf, timeless } from "../support.js";

afterAll(closePool);

interface Given {
  files?: Record<string, string | Uint8Array>;
  modules?: Record<string, string>;
  code?: object;
  node?: object;
}

/** Grades one code node over a scripted machine. */
function gradeCode(source: string, given: Given = {}): Promise<Verdict> {
  const modules: Record<string, string> = { "verify/grade.js": source, ...given.modules };
  const assets = Object.fromEntries(
    Object.entries(modules).map(([name, text]) => [
      name,
      { sha256: createHash("sha256").update(text).digest("hex"), for: "grading" as const },
    ]),
  );
  const node = { id: "code", code: { module: "verify/grade.js", ...given.code }, ...given.node };
  const loaded = graphOf(node, { assets });
  const machine = new MemorySandbox({ files: given.files ?? {} });
  return evaluateGraph(
    loaded,
    contextOf(machine, {
      readAsset: (name) => Promise.resolve(Buffer.from(modules[name] ?? "")),
      episode: { answer: "the answer", end: "done", reason: null, steps: 3, actions: [] },
    }),
  );
}

const scoring = (expression: string): string =>
  `export default async (machine, { params, episode }) => { const score = ${expression}; return { score: typeof score === "number" ? score : score === true ? 1 : 0, evidence: "told" }; }`;

describe("a code node", () => {
  it("gives the score and the evidence that its module returns", async () => {
    const verdict = await gradeCode(
      `export default async (machine) => ({ score: 0.25, evidence: await machine.text("/a") });`,
      { files: { "/a": "seen" } },
    );
    expect(verdict).toMatchObject({ status: "graded", score: 0.25, passed: false });
    expect(verdict.checks[0]).toMatchObject({ id: "code", status: "failed", evidence: "seen" });
  });

  it("may be TypeScript and import its neighbours", async () => {
    const verdict = await gradeCode("", {
      files: { "/a": "3\n" },
      code: { module: "verify/main.ts" },
      modules: {
        "verify/main.ts": `import { wanted } from "./lib/wanted.ts";
          import type { Machine } from "shinken-gym";
          interface Result { score: number; evidence: string }
          export default async function grade(machine: Machine): Promise<Result> {
            const seen = (await machine.number("/a")) as number;
            return { score: seen === wanted ? 1 : 0, evidence: \`\${seen}\` };
          }`,
        "verify/lib/wanted.ts": "export const wanted: number = 3;",
      },
    });
    expect(verdict).toMatchObject({ score: 1, passed: true });
  });

  it("reads text, lines, JSON, numbers, bytes, file facts and globs, and null where nothing is", async () => {
    const files = {
      "/t": "x",
      "/l": "a\nb\n",
      "/j": '{"a":[1]}',
      "/n": "7",
      "/b": new Uint8Array([0, 255, 128, 7]),
    };
    const source = scoring(`
      (await machine.text("/t")) === "x" && (await machine.lines("/l")).join() === "a,b" &&
      (await machine.json("/j")).a[0] === 1 && (await machine.number("/n")) === 7 &&
      [...(await machine.bytes("/b"))].join() === "0,255,128,7" && (await machine.file("/t")).kind === "file" &&
      (await machine.glob("/?")).length === 5 && (await machine.text("/nothing")) === null`);
    expect(await gradeCode(source, { files })).toMatchObject({ score: 1 });
  });

  it("knows its parameters and the episode", async () => {
    const source = scoring(`episode.answer === "the answer" && episode.steps === 3 && params.wanted === 5`);
    expect(await gradeCode(source, { code: { params: { wanted: 5 } } })).toMatchObject({ score: 1 });
  });

  it("has a clock that stands still and random numbers that repeat", async () => {
    const source = `export default () => ({ score: 1, evidence: JSON.stringify([Date.now(), new Date().toISOString(), Math.random(), Math.random()]) });`;
    const first = await gradeCode(source, { code: { now: "2026-02-03T04:05:06Z" } });
    const second = await gradeCode(source, { code: { now: "2026-02-03T04:05:06Z" } });
    expect(timeless(first)).toEqual(timeless(second));
    expect(first.checks[0]?.evidence).toContain("2026-02-03T04:05:06.000Z");
  });

  it.each([
    ["process", "typeof process"],
    ["require", "typeof require"],
    ["fetch", "typeof fetch"],
    ["WebSocket", "typeof WebSocket"],
    ["setTimeout", "typeof setTimeout"],
    ["the door to the grader", "typeof __ask"],
  ])("has no %s", async (_, expression) => {
    expect(await gradeCode(scoring(`(${expression}) === "undefined"`))).toMatchObject({ score: 1 });
  });

  it("cannot import what is no grading asset", async () => {
    for (const name of ["node:fs", "fs", "/etc/passwd", "../../../etc/passwd"]) {
      const verdict = await gradeCode(
        `import * as x from ${JSON.stringify(name)}; export default () => ({ score: 1, evidence: "" });`,
      );
      expect(verdict).toMatchObject({ status: "ungraded" });
      expect(verdict.reason).toContain("there is no module");
    }
  });

  it.each([
    ["true", "true"],
    ["a bare number", "1"],
    ["nothing", "undefined"],
    ["a score as text", `({ score: "1", evidence: "" })`],
    ["a score above 1", `({ score: 2, evidence: "" })`],
    ["no number", `({ score: NaN, evidence: "" })`],
    ["no evidence", `({ score: 1 })`],
    ["a field too many", `({ score: 1, evidence: "", passed: true })`],
  ])("that returns %s is ungraded, never a score", async (_, value) => {
    const verdict = await gradeCode(`export default () => ${value};`, { node: { on_error: "fail" } });
    expect(verdict).toMatchObject({ status: "ungraded", score: null });
    expect(verdict.reason).toContain("returned");
  });

  it("may say that it cannot tell", async () => {
    const verdict = await gradeCode(`export default () => ({ ungraded: "two reports" });`);
    expect(verdict.reason).toContain("two reports");
  });

  it("is ungraded with its own error where it throws, and by the content where a read was at fault", async () => {
    const own = await gradeCode(`export default () => { throw new RangeError("oh"); };`, {
      node: { on_error: "fail" },
    });
    expect(own.reason).toContain("grader_error: verify/grade.js: RangeError: oh");
    const content = await gradeCode(
      `export default async (m) => ({ score: 1, evidence: await m.json("/a") });`,
      {
        files: { "/a": "{" },
        node: { on_error: "fail" },
      },
    );
    expect(content).toMatchObject({ status: "graded", score: 0 });
  });

  it("may catch a fault of the content by its name", async () => {
    const source = scoring(`await machine.json("/a").catch((e) => e instanceof ContentFault ? 0.5 : 0)`);
    expect(await gradeCode(source, { files: { "/a": "{" } })).toMatchObject({ score: 0.5 });
  });

  it("reads through its declared channels alone, and only what is a query", async () => {
    const other = await gradeCode(scoring(`(await machine.read("process", { kind: "count" })).value`));
    expect(other.reason).toContain(`the channel "process" is not among the node's channels`);
    const allowed = await gradeCode(
      scoring(`(await machine.read("process", { kind: "count" })).value === 0`),
      {
        code: { channels: ["process"] },
      },
    );
    expect(allowed).toMatchObject({ score: 1 });
    const nonsense = await gradeCode(scoring(`await machine.read("fs", { kind: "txt", path: "/a" })`));
    expect(nonsense.reason).toContain("text");
  });

  it("that never ends is stopped by its deadline, and the next is graded", async () => {
    const verdict = await gradeCode(`export default () => { for (;;) {} };`, { node: { deadline_ms: 300 } });
    expect(verdict.reason).toContain("timeout");
    expect(await gradeCode(scoring("1"))).toMatchObject({ score: 1 });
  });

  it("that waits for nothing is told so at once", async () => {
    const verdict = await gradeCode(`export default () => new Promise(() => {});`);
    expect(verdict.reason).toContain("waits for something that never comes");
  });

  it("gets no more memory than it says", async () => {
    const source = `export default () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1)); };`;
    const before = process.memoryUsage().rss;
    const verdict = await gradeCode(source, { code: { memory_mib: 16 } });
    expect(verdict.reason).toContain("memory");
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  it("that recurses without end is an error of its own", async () => {
    const verdict = await gradeCode(`const f = () => f() + 1; export default () => f();`);
    expect(verdict.reason).toMatch(/stack|recursion/i);
  });

  it("whose top level waits is waited for", async () => {
    const source = `const one = await Promise.resolve(1); export default () => ({ score: one, evidence: "" });`;
    expect(await gradeCode(source)).toMatchObject({ score: 1 });
  });

  it("that is no module is ungraded with the place", async () => {
    expect((await gradeCode("export default (")).reason).toContain("SyntaxError");
    expect((await gradeCode("export const a = 1;")).reason).toMatch(/default/);
  });
});
