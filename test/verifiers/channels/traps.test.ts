import { afterAll, describe, expect, it } from "vitest";
import { closePool } from "../../../src/verifiers/index.js";
import { MemorySandbox, type Node } from "../../support/memory-sandbox.js";
import { check } from "./support.js";

afterAll(closePool);

const PATH = "/home/agent/report";

/** One query of every channel that reads a document. */
const queries: [string, object, object][] = [
  ["fs", { kind: "text" }, { type: "text", contains: "x" }],
  ["config", { kind: "yaml" }, { type: "json", exists: true }],
  ["archive", { kind: "entries" }, { type: "list", equals: [] }],
  ["office", { kind: "properties" }, { type: "json", exists: true }],
  ["pdf", { kind: "text" }, { type: "text", contains: "x" }],
  ["sqlite", { kind: "number", sql: "SELECT 1" }, { type: "number", equals: 1 }],
];

/** A file that says that it has ten gigabytes, and holds none. */
function sparse(): Node {
  const bytes = new Uint8Array();
  Object.defineProperty(bytes, "length", { value: 10 * 2 ** 30 });
  return { type: "file", bytes };
}

const traps: [string, () => Record<string, Node>, string][] = [
  ["a pipe", () => ({ [PATH]: { type: "fifo" } }), "is a fifo, not a file"],
  ["a socket", () => ({ [PATH]: { type: "socket" } }), "is a socket, not a file"],
  ["a folder", () => ({ [PATH]: { type: "directory" } }), "is a directory, not a file"],
  [
    "a link to /dev/zero",
    () => ({ [PATH]: { type: "symlink", target: "/dev/zero" }, "/dev/zero": { type: "char" } }),
    "is a char, not a file",
  ],
  ["a link to itself", () => ({ [PATH]: { type: "symlink", target: "report" } }), "more than 16 links"],
  ["a sparse file of ten gigabytes", () => ({ [PATH]: sparse() }), "is larger than"],
];

describe.each(traps)("where a document should be, %s", (_, files, why) => {
  it.each(queries)("leaves %s ungraded and is never opened", async (channel, query, assert) => {
    const machine = new MemorySandbox({ files: files() });
    const { status, evidence } = await check(channel, { path: PATH, ...query }, assert, machine);
    expect([status, evidence.includes(why)], evidence).toEqual(["ungraded", true]);
    expect(machine.counters.calls.filter((call) => call.includes(" read "))).toEqual([]);
  });
});
