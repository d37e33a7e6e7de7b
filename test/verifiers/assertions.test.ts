import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge } from "../../src/verifiers/assertions/judge.js";
import { jsonEquals, jsonIncludes } from "../../src/verifiers/assertions/json.js";
import { matchByKey, matchByRelation } from "../../src/verifiers/assertions/matching.js";
import { type Assertion, assertion, type Json } from "../../src/verifiers/assertions/schema.js";
import { channelQuery } from "../../src/verifiers/channels/schema.js";
import { codeSpec } from "../../src/verifiers/code/schema.js";
import { ground } from "../../src/verifiers/expected.js";
import { type Answer, ContentFault } from "../../src/verifiers/value.js";

const nowhere = {
  readAsset: () => Promise.reject(new Error("no asset")),
  read: () => Promise.reject(new Error("no query")),
  signal: new AbortController().signal,
};

async function score(spec: unknown, answer: Answer): Promise<number> {
  const parsed: Assertion = assertion.parse(spec);
  return judge(await ground(parsed, nowhere), answer).score;
}

const text = (value: string): Answer => ({ type: "text", value });
const number = (value: number): Answer => ({ type: "number", value });
const json = (value: Json): Answer => ({ type: "json", value });
const list = (...value: (string | number)[]): Answer => ({ type: "list", value });
const table = (rows: (string | number | null)[][], columns = ["a", "b"]): Answer => ({
  type: "table",
  columns,
  rows,
});
const file = (more: object = {}): Answer => ({
  type: "file",
  value: { kind: "file", size: 10, mode: 0o644, uid: 1000, ...more },
});

describe("text", () => {
  it.each([
    [{ equals: "a" }, "a", 1],
    [{ equals: "a" }, "a\n", 0],
    [{ equals: "a", normalise: ["trim"] }, " a\n", 1],
    [{ equals: "A  b", normalise: ["collapse_whitespace", "lower"] }, "a\tB ", 1],
    [{ equals: "\u00e9", normalise: ["nfc"] }, "e\u0301", 1],
    [{ equals: "\u00e9" }, "e\u0301", 0],
    [{ equals: "a\nb\n", normalise: ["crlf"] }, "a\r\nb\r\n", 1],
    [{ equals: "a", normalise: ["final_newline"] }, "a\n", 1],
    [{ contains: ["a", "b"] }, "xaxb", 1],
    [{ contains: ["a", "b"] }, "xa", 0],
    [{ contains: ["a", "b"], partial: true }, "xa", 0.5],
    [{ excludes: "secret" }, "no secrets", 0],
    [{ one_of: ["yes", "ja"] }, "ja", 1],
    [{ matches: "^\\d+$" }, "12x", 0],
    [{ matches: { pattern: "^B$", flags: "im" } }, "a\nb\nc", 1],
    [{ lines: ["a", "b"] }, "a\nb\n", 1],
    [{ lines: ["a", "b"] }, "b\na\n", 0],
    [{ lines: [] }, "", 1],
    [{ equals: "a", contains: "b" }, "a", 0],
  ])("%j on %j scores %d", async (spec, value, expected) => {
    expect(await score({ type: "text", ...spec }, text(value))).toBe(expected);
  });

  it("compares an answer as text: 21 is not 21 inches", async () => {
    expect(await score({ type: "text", equals: "21" }, text("21 inches"))).toBe(0);
  });
});

describe("number", () => {
  it.each([
    [{ equals: 3 }, 3, 1],
    [{ equals: 0.3 }, 0.1 + 0.2, 0],
    [{ equals: 0.3, tolerance: 1e-9 }, 0.1 + 0.2, 1],
    [{ below: 700 }, 700, 0],
    [{ below: 700, tolerance: 5 }, 700, 0],
    [{ above: 0 }, 0, 0],
    [{ min: 0, max: 1 }, 1, 1],
    [{ min: 1 }, 0.5, 0],
  ])("%j on %d scores %d", async (spec, value, expected) => {
    expect(await score({ type: "number", ...spec }, number(value))).toBe(expected);
  });
});

describe("a key that objects of JavaScript have of their own", () => {
  const trap = JSON.parse('{"__proto__":{"x":2}}') as Json;
  const same = JSON.parse('{"a":1,"__proto__":{"x":2}}') as Json;

  it.each([
    ["subset", { subset: trap }],
    ["equals", { equals: trap }],
    ["literal", { subset: { literal: trap } }],
    ["an inner key of subset", { subset: { a: trap } }],
    ["enum", { schema: { enum: [trap] } }],
  ])("is demanded by %s like any other", async (_, demand) => {
    expect(await score({ type: "json", ...demand }, json({ a: 1 }))).toBe(0);
    expect(await score({ type: "json", ...demand }, json({}))).toBe(0);
  });

  it("is found where it is", async () => {
    expect(await score({ type: "json", subset: trap }, json(same))).toBe(1);
    expect(await score({ type: "json", equals: same }, json(same))).toBe(1);
    expect(await score({ type: "json", equals: { literal: trap } }, json(trap))).toBe(1);
  });

  it("reaches a code node and a module", () => {
    expect(Object.keys(codeSpec.parse({ module: "a.js", params: trap }).params)).toEqual(["__proto__"]);
    const query = { module: "thunderbird", ask: "accounts", args: trap };
    const pair = channelQuery.parse({ channel: "module", query });
    expect(Object.keys((pair.query as { args: object }).args)).toEqual(["__proto__"]);
  });

  it.each([undefined, Number.NaN, new Date(0), [1n]])("does not make JSON of %s", (value) => {
    expect(() => assertion.parse({ type: "json", equals: { literal: value } })).toThrow();
    expect(() => codeSpec.parse({ module: "a.js", params: { value } })).toThrow();
  });
});

describe("json", () => {
  const document = { a: [1, { b: null }], "x/y": "z", n: 0, "~": true };
  it.each([
    [{ path: "/a/0", equals: 1 }, 1],
    [{ path: "/a/1/b", equals: null }, 1],
    [{ path: "/a/1/b", equals: 0 }, 0],
    [{ path: "/n", equals: null }, 0],
    [{ path: "/n", equals: false }, 0],
    [{ path: "/n", equals: "0" }, 0],
    [{ path: "/x~1y", equals: "z" }, 1],
    [{ path: "/~0", equals: true }, 1],
    [{ path: "/none", exists: false }, 1],
    [{ path: "/none", equals: null }, 0],
    [{ path: "/a/01", exists: true }, 0],
    [{ path: "/__proto__", exists: true }, 0],
    [{ subset: { n: 0 } }, 1],
    [{ subset: { n: 1 } }, 0],
    [{ subset: { a: [1] } }, 0],
    [{ path: "/a", length: 2 }, 1],
    [{ equals: { literal: { asset: "x" } } }, 0],
    [
      {
        schema: {
          type: "object",
          required: ["a"],
          properties: { a: { type: "array", items: { enum: [1, { b: null }] } } },
        },
      },
      1,
    ],
    [{ schema: { type: "object", closed: true, properties: { a: {} } } }, 0],
    [{ path: "/a/0", schema: { type: "integer", min: 1, max: 1 } }, 1],
    [{ path: "/a", schema: { type: "array", max_items: 1 } }, 0],
  ])("%j scores %d", async (spec, expected) => {
    expect(await score({ type: "json", ...spec }, json(document))).toBe(expected);
  });

  it("is never graded by the length of something that has none", async () => {
    await expect(score({ type: "json", path: "/n", length: 0 }, json(document))).rejects.toThrow(
      ContentFault,
    );
  });

  it("equality agrees with a second opinion on canonical text", () => {
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
    const sorted = (one: Json): Json =>
      Array.isArray(one)
        ? one.map(sorted)
        : one !== null && typeof one === "object"
          ? Object.fromEntries(
              Object.keys(one)
                .sort()
                .map((key) => [`k${key}`, sorted(one[key] as Json)]),
            )
          : Object.is(one, -0)
            ? 0
            : one;
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(jsonEquals(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
        expect(jsonEquals(a, a)).toBe(true);
        expect(jsonIncludes(a, a)).toBe(true);
      }),
    );
  });
});

describe("table", () => {
  const rows = [
    ["x", 1],
    ["y", 2],
  ];
  it.each([
    [{ rows }, rows, 1],
    [
      { rows },
      [
        ["y", 2],
        ["x", 1],
      ],
      0,
    ],
    [
      { rows, as: "set" },
      [
        ["y", 2],
        ["x", 1],
      ],
      1,
    ],
    [
      {
        rows: [
          ["x", 1],
          ["x", 1],
        ],
        as: "set",
      },
      [
        ["x", 1],
        ["z", 1],
      ],
      0,
    ],
    [{ rows: [["x", 1]], as: "includes" }, rows, 1],
    [{ rows: [["x", "1"]], as: "includes" }, rows, 0],
    [
      { rows, partial: true },
      [
        ["x", 1],
        ["y", 3],
      ],
      0.5,
    ],
    [
      { rows, partial: true },
      [
        ["x", 1],
        ["y", 2],
        ["z", 3],
        ["w", 4],
      ],
      0.5,
    ],
    [{ rows: [[null, 0]] }, [[0, null]], 0],
    [{ rows: [] }, [], 1],
    [{ rows: [["x", 1.001]], tolerance: 0.01 }, [["x", 1]], 1],
    [{ row_count: { min: 2, max: 3 } }, rows, 1],
    [{ columns: ["a", "b"] }, rows, 1],
    [{ columns: ["b", "a"] }, rows, 0],
    [{ cells: [{ row: 1, column: "b", equals: 2 }] }, rows, 1],
    [{ cells: [{ row: 0, column: 1, min: 0.5, max: 1.5 }] }, rows, 1],
    [{ cells: [{ row: 9, column: 1, equals: 2 }] }, rows, 0],
    [{ cells: [{ row: 0, column: "c", equals: 2 }] }, rows, 0],
  ])("%j on %j scores %d", async (spec, value, expected) => {
    expect(await score({ type: "table", ...spec }, table(value as (string | number | null)[][]))).toBe(
      expected,
    );
  });

  it("does not place a text in a range of numbers", async () => {
    const spec = { type: "table", cells: [{ row: 0, column: "a", min: 0 }] };
    await expect(score(spec, table([["x", 1]]))).rejects.toThrow(/not a number/);
    await expect(score(spec, table([[null, 1]]))).rejects.toThrow(/not a number/);
  });

  it("pairs rows within a tolerance whatever their order", async () => {
    // 1.0 fits both seen rows, 1.1 only the second: a greedy pairing in order may take the wrong one.
    const spec = { type: "table", rows: [[1.05], [0.95]], as: "set", tolerance: 0.1 };
    for (const seen of [
      [[1.0], [1.15]],
      [[1.15], [1.0]],
    ])
      expect(await score(spec, table(seen, ["a"]))).toBe(1);
  });
});

describe("pairing", () => {
  it("by relation is never worse than by key, and symmetric", () => {
    const items = fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 8 });
    fc.assert(
      fc.property(items, items, (a, b) => {
        const exact = matchByRelation(a, b, (x, y) => x === y);
        expect(exact).toBe(matchByKey(a, b, String));
        const near = (x: number, y: number) => Math.abs(x - y) <= 1;
        expect(matchByRelation(a, b, near)).toBeGreaterThanOrEqual(exact);
        expect(matchByRelation(a, b, near)).toBe(matchByRelation(b, a, near));
      }),
    );
  });
});

describe("list and set", () => {
  it.each([
    [{ type: "list", equals: ["a", "b"] }, ["a", "b"], 1],
    [{ type: "list", equals: ["a", "b"] }, ["b", "a"], 0],
    [{ type: "set", equals: ["a", "b"] }, ["b", "a"], 1],
    [{ type: "set", equals: ["a", "a"] }, ["a", "c"], 0],
    [{ type: "set", equals: ["a", "c"] }, ["a", "a"], 0],
    [{ type: "set", equals: ["a"], multiset: false }, ["a", "a"], 1],
    [{ type: "set", equals: [1] }, ["1"], 0],
    [{ type: "list", contains: ["a"], excludes: ["z"] }, ["a", "b"], 1],
    [{ type: "list", excludes: ["b"] }, ["a", "b"], 0],
    [{ type: "list", length: { equals: 2 } }, ["a", "b"], 1],
    [{ type: "set", equals: ["A"], normalise: ["lower"] }, ["a"], 1],
    [{ type: "list", equals: ["a", "b"], partial: true }, ["a", "c"], 0.5],
  ])("%j on %j scores %d", async (spec, value, expected) => {
    expect(await score(spec, list(...value))).toBe(expected);
  });
});

describe("file", () => {
  it.each([
    [{ exists: true }, file(), 1],
    [{ exists: true }, { absent: "x" }, 0],
    [{ absent: true }, { absent: "x" }, 1],
    [{ absent: true }, file(), 0],
    [{ kind: "directory" }, file(), 0],
    [{ mode: "0644" }, file(), 1],
    [{ mode: "4755" }, file({ mode: 0o4755 }), 1],
    [{ mode: "0755" }, file(), 0],
    [{ size: { min: 1 } }, file({ size: 0 }), 0],
    [{ sha256: "0".repeat(64) }, file({ sha256: "0".repeat(64) }), 1],
    [{ sha256: "0".repeat(64) }, file({ kind: "directory" }), 0],
    [{ uid: 0 }, file(), 0],
    [{ target: "b" }, file({ kind: "symlink", target: "b" }), 1],
  ] as [object, Answer, number][])("%j on %j scores %d", async (spec, value, expected) => {
    expect(await score({ type: "file", ...spec }, value)).toBe(expected);
  });
});

describe("a value of the wrong type", () => {
  const specs = {
    text: { equals: "1" },
    number: { equals: 1 },
    json: { equals: 1 },
    table: { rows: [] },
    list: { equals: [] },
    file: { exists: true },
    bytes: { sha256: "0".repeat(64) },
  };
  const values: Record<string, Answer> = {
    text: text("1"),
    number: number(1),
    json: json(1),
    table: table([]),
    list: list(),
    file: file(),
    bytes: { type: "bytes", value: new Uint8Array() },
  };
  const pairs = Object.keys(specs).flatMap((spec) =>
    Object.keys(values)
      .filter((value) => value !== spec)
      .map((value) => [spec, value] as const),
  );
  it.each(pairs)("is never judged: %s by %s", async (spec, value) => {
    await expect(
      score({ type: spec, ...specs[spec as keyof typeof specs] }, values[value] as Answer),
    ).rejects.toThrow(ContentFault);
  });
});
