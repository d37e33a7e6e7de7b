/** What a task grants is all there is: to the agent its actions, to the grader its channels, by whatever node it asks. */
import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { makeTask } from "../../src/env/task/index.js";
import { closePool, evaluateGraph } from "../../src/verifiers/index.js";
import { MemorySandbox } from "../support/memory-sandbox.js";
import { silent } from "../verifiers/support.js";
import { openWorlds } from "./session-support.js";
import { describeOnHost } from "./support.js";

afterAll(() => closePool());
const open = openWorlds();

const module = `export default async (machine) => { await machine.read("sqlite", { kind: "number", path: "/db", sql: "SELECT 1" }); return { score: 1, evidence: "" }; };`;
const assets = {
  "grade.js": { sha256: createHash("sha256").update(module).digest("hex"), for: "grading" as const },
};
const sqlite = { channel: "sqlite", query: { kind: "text", path: "/db", sql: "SELECT 'x'" } };
const fs = { channel: "fs", query: { kind: "text", path: "/a" } };
const criteria = [{ id: "one", ask: "It is so." }];

const task = (node: object, more: object = {}) =>
  makeTask({
    id: "granted",
    version: "1.0.0",
    instruction: "Do it.",
    capabilities: { grader: ["fs"] },
    verify: { graph: { id: "node", ...node } },
    oracle: [{ type: "done" }],
    assets,
    ...more,
  });

describe("a grader that is granted files alone", () => {
  it.each<[string, object]>([
    ["a check of a database", { ...sqlite, assert: { type: "text", equals: "x" } }],
    ["an expected value out of a database", { ...fs, assert: { type: "text", equals: { from: sqlite } } }],
    ["a code node that names databases", { code: { module: "grade.js", channels: ["fs", "sqlite"] } }],
    [
      "a judge with evidence out of a database",
      { judge: { criteria, evidence: [{ name: "db", ...sqlite }] } },
    ],
    ["a judge that may look into databases", { judge: { criteria, tools: ["sqlite"] } }],
  ])("is refused %s at load", (_, node) => {
    expect(() => task(node)).toThrow(expect.objectContaining({ code: "bad_task" }) as Error);
    expect(() => task(node, { capabilities: {} })).not.toThrow();
  });

  it("has a module that asks for more in its own code ungraded", async () => {
    const variant = task({ code: { module: "grade.js" } }).variant();
    const verdict = await evaluateGraph(variant.graph, {
      fork: () => new MemorySandbox().fork("grade"),
      episode: silent,
      readAsset: () => Promise.resolve(Buffer.from(module)),
    });
    expect(verdict).toMatchObject({ status: "ungraded", score: null });
    expect(verdict.reason).toContain('"sqlite" is not among the node\'s channels');
  });
});

describeOnHost("an agent that is granted files alone", () => {
  it("may neither run commands nor have a shell, whatever else stands in the step, and nothing of it is done", async () => {
    const { session } = open({
      capabilities: { agent: ["files"] },
      oracle: [{ type: "write_file", path: "one", content: "1\n" }],
    });
    await session.reset({ seed: 1 });
    for (const command of [
      { type: "exec", command: "true" },
      { type: "exec", argv: ["true"] },
      { type: "shell", command: "true" },
    ]) {
      const step = session.step([{ type: "write_file", path: "one", content: "1\n" }, command]);
      await expect(step).rejects.toMatchObject({ code: "capability_denied", path: "actions[1].type" });
    }
    expect((await session.step([{ type: "wait", seconds: 1 }])).reward).toBe(0);
  });
});
