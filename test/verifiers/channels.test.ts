import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { matchesWildcard } from "../../src/verifiers/channels/fs/wildcard.js";
import { closePool, type EpisodeFacts } from "../../src/verifiers/index.js";
import { type Command, type MemoryMachine, MemorySandbox } from "../support/memory-sandbox.js";
import { grade, silent } from "./support.js";

afterAll(closePool);

const sha = (text: string) => createHash("sha256").update(text).digest("hex");

/** Status and evidence of one check. */
async function check(
  channel: string,
  query: object,
  assert: object,
  machine: MemoryMachine | MemorySandbox = {},
  more: object = {},
) {
  const verdict = await grade({ id: "c", channel, query, assert, ...more }, machine);
  const [result] = verdict.checks;
  return { status: result?.status, evidence: result?.evidence ?? "" };
}

describe("fs", () => {
  const files: MemoryMachine["files"] = {
    "/w/a.txt": "one\ntwo\n",
    "/w/n": " 42\n",
    "/w/bad.json": "{",
    "/w/good.json": '{"a":1}',
    "/w/t.csv": 'name,qty\n"a, ""b""",3\r\nc,4\n',
    "/w/latin1": Uint8Array.of(0xff, 0xfe),
    "/w/pipe": { type: "fifo" },
    "/w/link": { type: "symlink", target: "a.txt" },
    "/w/loop": { type: "symlink", target: "loop" },
    "/w/sub/.hidden": "h",
    "/w/sub/x.log": "x",
    "/w/.b.tmp": "b",
    "/w/.cache/c.tmp": "c",
  };
  const at = (query: object, assert: object, more: object = {}) =>
    check("fs", query, assert, { files }, more);

  it.each([
    [
      { kind: "lines", path: "/w/a.txt" },
      { type: "list", equals: ["one", "two"] },
    ],
    [
      { kind: "number", path: "/w/n" },
      { type: "number", equals: 42 },
    ],
    [
      { kind: "json", path: "/w/good.json" },
      { type: "json", equals: { a: 1 } },
    ],
    [
      { kind: "csv", path: "/w/t.csv", numeric: ["qty"] },
      {
        type: "table",
        columns: ["name", "qty"],
        rows: [
          ['a, "b"', 3],
          ["c", 4],
        ],
      },
    ],
    [
      { kind: "csv", path: "/w/t.csv", header: false },
      { type: "table", cells: [{ row: 2, column: 1, equals: "4" }] },
    ],
    [
      { kind: "bytes", path: "/w/a.txt" },
      { type: "bytes", sha256: sha("one\ntwo\n") },
    ],
    [
      { kind: "bytes", path: "/w/latin1" },
      { type: "bytes", equals: { base64: "//4=" } },
    ],
    [
      { kind: "hash", path: "/w/link" },
      { type: "text", equals: sha("one\ntwo\n") },
    ],
    [
      { kind: "file", path: "/w/link" },
      { type: "file", kind: "symlink", target: "a.txt" },
    ],
    [
      { kind: "file", path: "/w/a.txt" },
      { type: "file", kind: "file", sha256: sha("one\ntwo\n"), mode: "0644" },
    ],
    [
      { kind: "file", path: "/w/none" },
      { type: "file", absent: true },
    ],
    [
      { kind: "text", path: "/w/link" },
      { type: "text", contains: "two" },
    ],
    [
      { kind: "tree", path: "/w/sub" },
      { type: "list", equals: [".hidden", "x.log"] },
    ],
    [
      { kind: "manifest", path: "/w/sub" },
      { type: "json", equals: { ".hidden": { sha256: sha("h") }, "x.log": { sha256: sha("x") } } },
    ],
    [
      { kind: "glob", pattern: "/w/**/*.log" },
      { type: "set", equals: ["/w/sub/x.log"] },
    ],
    [
      { kind: "glob", pattern: "/w/[ab].txt" },
      { type: "list", equals: ["/w/a.txt"] },
    ],
    [
      { kind: "glob", pattern: "/w/sub/*" },
      { type: "list", equals: ["/w/sub/.hidden", "/w/sub/x.log"] },
    ],
    [
      { kind: "glob", pattern: "/w/**/*.tmp" },
      { type: "set", equals: ["/w/.b.tmp", "/w/.cache/c.tmp"] },
    ],
    [
      { kind: "glob", pattern: "/none/*" },
      { type: "list", equals: [] },
    ],
  ])("%j satisfies %j", async (query, assert) => {
    const { status, evidence } = await at(query, assert);
    expect(status, evidence).toBe("passed");
  });

  it.each([
    [{ kind: "number", path: "/w/a.txt" }, { type: "number", equals: 1 }, "is not a number"],
    [{ kind: "json", path: "/w/bad.json" }, { type: "json", exists: true }, "is not JSON"],
    [{ kind: "text", path: "/w/latin1" }, { type: "text", contains: "x" }, "not valid UTF-8"],
    [{ kind: "text", path: "/w/pipe" }, { type: "text", contains: "x" }, "is a fifo, not a file"],
    [{ kind: "text", path: "/w/loop" }, { type: "text", contains: "x" }, "more than 16 links"],
    [
      { kind: "text", path: "/w/a.txt", max_bytes: 4 },
      { type: "text", contains: "x" },
      "larger than 4 bytes",
    ],
    [{ kind: "text", path: "/w/sub" }, { type: "text", contains: "x" }, "is a directory, not a file"],
    [{ kind: "tree", path: "/w/a.txt" }, { type: "list", equals: [] }, "not a directory"],
    [{ kind: "tree", path: "/w", depth: 1 }, { type: "list", equals: [] }, "deeper than 1 levels"],
    [{ kind: "csv", path: "/w/t.csv", numeric: ["name"] }, { type: "table", rows: [] }, "is not a number"],
    [
      { kind: "csv", path: "/w/t.csv", numeric: ["price"] },
      { type: "table", rows: [] },
      'has no column "price"',
    ],
    [{ kind: "csv", path: "/w/a.txt", delimiter: "e" }, { type: "table", rows: [] }, "fields instead of"],
  ])("%j is ungraded", async (query, assert, why) => {
    const { status, evidence } = await at(query, assert);
    expect(status).toBe("ungraded");
    expect(evidence).toContain(why);
  });

  it("never opens a pipe: that would block the guest's agent", async () => {
    const machine = new MemorySandbox({ files });
    await check("fs", { kind: "text", path: "/w/pipe" }, { type: "text", contains: "x" }, machine);
    expect(machine.counters.calls.filter((call) => call.includes("read "))).toEqual([]);
  });

  it.each([
    [{ kind: "glob", pattern: "/w/**/*.tmp" }],
    [{ kind: "glob", pattern: "/w/s*/*" }],
    [{ kind: "tree", path: "/w" }],
    [{ kind: "manifest", path: "/w" }],
  ])("%j faults at a folder that is listed and then is not there", async (query) => {
    const assert =
      query.kind === "manifest" ? { type: "json", equals: {} } : { type: "list", length: { equals: 0 } };
    const machine = new MemorySandbox({ files, vanished: ["/w/sub"] });
    const { status, evidence } = await check("fs", query, assert, machine);
    expect([status, evidence]).toEqual(["ungraded", expect.stringContaining("/w/sub: ENOENT")]);
    const failing = await check("fs", query, assert, machine, { on_error: "fail" });
    expect(failing.status).toBe("failed");
  });

  it("parses a large file in a thread, to the same value", async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => [String(index), "x"]);
    const csv = `id,v\n${rows.map((row) => row.join(",")).join("\n")}\n`;
    const assert = {
      type: "table",
      row_count: { equals: 20_000 },
      cells: [{ row: 19_999, column: "id", equals: "19999" }],
    };
    const { status, evidence } = await check("fs", { kind: "csv", path: "/big.csv" }, assert, {
      files: { "/big.csv": csv },
    });
    expect(status, evidence).toBe("passed");
  });

  it("bounds its evidence whatever the file holds", async () => {
    const { evidence } = await check(
      "fs",
      { kind: "text", path: "/big" },
      { type: "text", equals: "y".repeat(9_999) },
      { files: { "/big": "x".repeat(1_000_000) } },
    );
    expect(evidence.length).toBeLessThanOrEqual(2_000);
  });
});

describe("an expected value from a second query", () => {
  const copy = {
    type: "text",
    equals: { from: { channel: "fs", query: { kind: "text", path: "/original" } } },
  };
  it("is compared with the first", async () => {
    expect(
      (
        await check("fs", { kind: "text", path: "/copy" }, copy, {
          files: { "/original": "a", "/copy": "a" },
        })
      ).status,
    ).toBe("passed");
    expect(
      (
        await check("fs", { kind: "text", path: "/copy" }, copy, {
          files: { "/original": "a", "/copy": "b" },
        })
      ).status,
    ).toBe("failed");
  });
  it("that is missing leaves the check ungraded", async () => {
    const { status, evidence } = await check("fs", { kind: "text", path: "/copy" }, copy, {
      files: { "/copy": "b" },
    });
    expect([status, evidence]).toEqual([
      "ungraded",
      "the expected value is missing: there is nothing at /original",
    ]);
  });
});

describe("wildcards", () => {
  it.each([
    ["*.txt", "a.txt", true],
    ["*.txt", ".txt", true],
    ["?b", ".b", true],
    ["[!a]b", ".b", true],
    [".*", ".bashrc", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[a-c]x", "bx", true],
    ["[!a-c]x", "bx", false],
    ["[]x]", "]", true],
    ["*a*b*", "xxaxxbxx", true],
    ["[", "[", true],
    ["*", "", true],
  ])("%s on %s is %s", (pattern, name, expected) => {
    expect(matchesWildcard(pattern, name)).toBe(expected);
  });
  it("agree with a regular expression", () => {
    const letter = fc.constantFrom("a", "b", "*", "?");
    const name = fc
      .array(fc.constantFrom("a", "b", "c"), { maxLength: 8 })
      .map((letters) => letters.join(""));
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 8 }), name, (pattern, text) => {
        const regex = new RegExp(
          `^${pattern.map((one) => (one === "*" ? ".*" : one === "?" ? "." : one)).join("")}$`,
        );
        expect(matchesWildcard(pattern.join(""), text)).toBe(regex.test(text));
      }),
    );
  });
});

describe("process", () => {
  const processes: MemoryMachine["processes"] = [
    { name: "nginx", argv: ["nginx: master"], uid: 0 },
    { name: "python3", argv: ["/usr/bin/python3", "-m", "http.server", "8080"] },
    { name: "a-very-long-nam", argv: ["./a-very-long-name-indeed"] },
    { name: "nginx", argv: [], state: "Z" },
  ];
  it.each([
    [{ kind: "count", name: "nginx" }, 1],
    [{ kind: "count", name: "nginx", zombies: true }, 2],
    [{ kind: "count", argv_contains: ["http.server", "8080"] }, 1],
    [{ kind: "count", argv: ["/usr/bin/python3", "-m"] }, 1],
    [{ kind: "count", argv: ["python3"] }, 0],
    [{ kind: "count", name: "a-very-long-name-indeed" }, 1],
    [{ kind: "count", uid: 0 }, 1],
    [{ kind: "count", name: "ngin" }, 0],
  ])("%j counts %d", async (query, equals) => {
    const { status, evidence } = await check("process", query, { type: "number", equals }, { processes });
    expect(status, evidence).toBe("passed");
  });
  it("lists names and a table", async () => {
    expect(
      (await check("process", { kind: "names", uid: 0 }, { type: "set", equals: ["nginx"] }, { processes }))
        .status,
    ).toBe("passed");
    const cells = [{ row: 0, column: "command", equals: "/usr/bin/python3 -m http.server 8080" }];
    expect(
      (await check("process", { kind: "table", name: "python3" }, { type: "table", cells }, { processes }))
        .status,
    ).toBe("passed");
  });
});

describe("exec-json", () => {
  const program = "/usr/bin/inspect";
  const run = (
    command: Command,
    more: object = {},
    assert: object = { type: "json", path: "/n", equals: 1 },
  ) => check("exec-json", { argv: [program], ...more }, assert, { commands: { [program]: command } });

  it("judges what the command prints", async () => {
    expect((await run(() => ({ out: '{"n":1}\n' }))).status).toBe("passed");
    expect((await run(() => ({ out: '{"n":2}' }))).status).toBe("failed");
  });

  it.each([
    ["output after the value", () => ({ out: '{"n":1} {"n":1}' }), "is not JSON"],
    ["no output", () => ({ out: "" }), "is not JSON"],
    ["NaN", () => ({ out: '{"n":NaN}' }), "is not JSON"],
    [
      "a failing exit code",
      () => ({ out: '{"n":1}', exitCode: 3, stderr: Buffer.from("boom\n") }),
      "exit code 3: boom",
    ],
    ["a signal", () => ({ out: '{"n":1}', exitCode: null, signal: 9 }), "signal 9"],
    ["too much output", () => ({ out: `{"n":1${" ".repeat(100)}}` }), "more than 64 bytes"],
    ["a guest time-out", () => ({ out: '{"n":1}', timedOut: true, exitCode: null }), "timeout: "],
    ["deep nesting", () => ({ out: "[".repeat(300) + "]".repeat(300) }), "nested deeper"],
  ] as [string, Command, string][])("is ungraded by %s", async (_, command, why) => {
    const { status, evidence } = await run(command, { max_bytes: why.includes("64") ? 64 : 1_000 });
    expect([status, evidence.includes(why)], evidence).toEqual(["ungraded", true]);
  });

  it("runs with an environment of its own, as root, by the words as they are", async () => {
    let seen: unknown;
    await run(
      (request) => {
        seen = request;
        return { out: "{}" };
      },
      { argv: [program, "a b; rm -rf /", 7] },
    );
    expect(seen).toMatchObject({
      argv: [program, "a b; rm -rf /", "7"],
      cleanEnv: true,
      user: "root",
      cwd: "/",
    });
  });

  it("puts grading assets only into a fork of the check's own", async () => {
    const machine = new MemorySandbox({
      files: { "/x": "x" },
      commands: {
        [program]: (request, guest) => ({
          out: JSON.stringify({
            gold: Buffer.from(guest.nodes.get(request.argv[1] ?? "")?.bytes ?? []).toString(),
          }),
        }),
      },
    });
    const { loadGraph, evaluateGraph, graphNode } = await import("../../src/verifiers/index.js");
    const graph = graphNode.parse({
      all: [
        {
          id: "module",
          channel: "exec-json",
          query: { argv: [program, { asset: "gold.txt" }] },
          assert: { type: "json", path: "/gold", equals: "secret" },
        },
        {
          id: "tree",
          channel: "fs",
          query: { kind: "glob", pattern: "/run/*" },
          assert: { type: "list", equals: [] },
        },
      ],
    });
    const loaded = loadGraph(graph, { assets: { "gold.txt": { sha256: sha("secret"), for: "grading" } } });
    const verdict = await evaluateGraph(loaded, {
      fork: () => machine.fork("grade"),
      episode: silent,
      readAsset: () => Promise.resolve(Buffer.from("secret")),
    });
    expect(verdict, JSON.stringify(verdict)).toMatchObject({ score: 1 });
    expect(machine.counters).toMatchObject({ forks: 2, open: 0 });
    expect([...machine.nodes.keys()].filter((path) => path.startsWith("/run"))).toEqual([]);
  });
});

describe("episode", () => {
  const ask = async (query: object, assert: object, episode: Partial<EpisodeFacts>) => {
    const verdict = await grade(
      { id: "c", channel: "episode", query, assert },
      {},
      { episode: { ...silent, ...episode } },
    );
    return verdict.checks[0]?.status;
  };
  it.each([
    [{ kind: "answer" }, { type: "text", equals: "Rome" }, { answer: "Rome" }, "passed"],
    [{ kind: "answer" }, { type: "text", equals: "Rome" }, {}, "failed"],
    [{ kind: "answer_number" }, { type: "number", equals: 0 }, { answer: "null" }, "ungraded"],
    [{ kind: "answer_number" }, { type: "number", equals: 0 }, {}, "failed"],
    [{ kind: "answer_number" }, { type: "number", equals: 12.5 }, { answer: " 12.5\n" }, "passed"],
    [{ kind: "answer_number" }, { type: "number", equals: 4 }, { answer: "2+2" }, "ungraded"],
    [{ kind: "answer_json" }, { type: "json", path: "/0", equals: 1 }, { answer: "[1]" }, "passed"],
    [{ kind: "answer_lines" }, { type: "set", equals: ["a", "b"] }, { answer: "b\na" }, "passed"],
    [{ kind: "end" }, { type: "text", equals: "fail" }, { end: "fail", reason: "no such user" }, "passed"],
    [
      { kind: "reason" },
      { type: "text", contains: "user" },
      { end: "fail", reason: "no such user" },
      "passed",
    ],
    [{ kind: "reason" }, { type: "text", contains: "user" }, { end: "done" }, "failed"],
    [{ kind: "steps" }, { type: "number", max: 3 }, { steps: 3 }, "passed"],
    [
      { kind: "actions" },
      { type: "list", excludes: ["write_file"] },
      { actions: [{ type: "exec" }] },
      "passed",
    ],
  ] as [object, object, Partial<EpisodeFacts>, string][])(
    "%j %j of %j is %s",
    async (query, assert, episode, expected) => {
      expect(await ask(query, assert, episode)).toBe(expected);
    },
  );
});
