import { afterAll, expect, it } from "vitest";
import { checkVerifier, closePool } from "../../src/verifiers/index.js";
import { MemorySandbox } from "../support/memory-sandbox.js";
import { contextOf, graphOf, textCheck } from "./support.js";

afterAll(closePool);

const files = { "/a": "a", "/b": "b" };
const graph = {
  weighted: [
    textCheck("a", "/a", { equals: "a" }),
    { sequence: [textCheck("b", "/b", { equals: "x" }), textCheck("c", "/a", { equals: "a" })] },
    textCheck("d", "/a", { equals: "a" }, { needs: ["b"] }),
    { not: textCheck("e", "/none", { equals: "a" }) },
  ],
};

it("checkVerifier finds nothing amiss in a sound graph", async () => {
  expect(await checkVerifier(graphOf(graph), contextOf(new MemorySandbox({ files })))).toEqual([]);
});

it("checkVerifier finds nothing amiss where a graph is ungraded: that is an honest verdict", async () => {
  const malformed = {
    id: "m",
    channel: "fs",
    query: { kind: "json", path: "/a" },
    assert: { type: "json", exists: true },
  };
  expect(await checkVerifier(graphOf({ all: [malformed] }), contextOf(new MemorySandbox({ files })))).toEqual(
    [],
  );
});

it("checkVerifier tells of a machine that differs from fork to fork, and of forks that stay open", async () => {
  let forks = 0;
  const fork = (): Promise<MemorySandbox> => {
    const machine = new MemorySandbox({ files: { "/a": `a${forks++}`, "/b": "b" } });
    machine.close = () => Promise.resolve();
    return Promise.resolve(machine);
  };
  const faults = await checkVerifier(graphOf(graph), { ...contextOf(new MemorySandbox()), fork });
  expect(faults).toEqual([
    "grading the same state twice gave two verdicts",
    "3 of 3 grading forks were left open",
  ]);
});

it("checkVerifier tells of a check that changes the machine without saying so", async () => {
  const write = {
    id: "w",
    channel: "exec-json",
    query: { argv: ["/bin/touch"] },
    assert: { type: "json", path: "/first", equals: true },
  };
  const look = {
    id: "l",
    channel: "exec-json",
    query: { argv: ["/bin/touch"] },
    assert: { type: "json", path: "/first", equals: true },
  };
  const machine = new MemorySandbox({
    commands: {
      "/bin/touch": (_, guest) => {
        const first = !guest.nodes.has("/mark");
        guest.put("/mark", "");
        return { out: JSON.stringify({ first }) };
      },
    },
  });
  expect(await checkVerifier(graphOf({ weighted: [write, look] }), contextOf(machine))).toEqual([
    "reversed order gave other scores",
  ]);
  expect(
    await checkVerifier(
      graphOf({
        weighted: [
          { ...write, mutates: true },
          { ...look, mutates: true },
        ],
      }),
      contextOf(machine),
    ),
  ).toEqual([]);
});
