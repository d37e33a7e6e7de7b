/** Task files, typed values, and paths into data. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTasks } from "../../../src/suites/index.js";
import { kindNames, type Reading, sameTyped, typed } from "../../../src/suites/webarena-verified/kinds.js";
import { readPath, valueAt } from "../../../src/suites/webarena-verified/paths.js";
import { Sites } from "../../../src/suites/webarena-verified/sites.js";
import { sites, task, answer, network } from "./support.js";

describe("a task file", () => {
  it.each([
    ["no list", {}, ""],
    ["two tasks of one number", [task([answer({})]), task([answer({})])], "[1].task_id"],
    ["a misspelt field", [task([answer({})], { sitez: [] })], "[0].sitez"],
    ["an unknown site", [task([answer({})], { sites: ["gitlub"] })], "[0].sites[0]"],
    ["an unknown evaluator", [task([{ evaluator: "X" }])], "[0].eval[0].evaluator"],
    ["no evaluator of the response", [task([network({})])], "[0].eval"],
    [
      "an unknown type",
      [task([answer({}, { results_schema: { type: "array", items: { format: "colour" } } })])],
      "[0].eval[0].results_schema.items.format",
    ],
    [
      "a path that cannot be read",
      [task([answer({}), network({ post_data: { "$..x": "1" } })])],
      "[0].eval[1].expected.post_data.$..x",
    ],
  ])("with %s is refused, with the path", (_, file, path) => {
    expect(() => parseTasks(file)).toThrow(expect.objectContaining({ code: "bad_task", path }));
  });
});

describe("typed values", () => {
  const reading: Reading = { sites: new Sites(["gitlab"], sites), strict: false, careful: false };
  const anyValue = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom(...Array.from("0123456789.,:-/ $kmhdinjay^")) }),
    fc.double(),
    fc.jsonValue(),
  );

  it.each(kindNames)(
    "of %s are the same as themselves, either way round, and reading them never throws",
    (kind) => {
      fc.assert(
        fc.property(anyValue, anyValue, (a, b) => {
          const left = typed(kind, a as never, reading);
          const right = typed(kind, b as never, reading);
          // A number that is none equals nothing, as everywhere; a pattern is text to be matched, and need not match itself.
          const odd =
            typeof left?.shown === "number"
              ? Number.isNaN(left.shown)
              : JSON.stringify(left?.shown ?? "").startsWith('"^');
          if (left !== undefined && !odd) expect(sameTyped(left, left, reading)).toBe(true);
          if (left !== undefined && right !== undefined) {
            expect(sameTyped(left, right, reading)).toBe(sameTyped(right, left, reading));
          }
        }),
      );
    },
  );
});

describe("paths into data", () => {
  it("are read, or refused", () => {
    expect(readPath("$..x")).toBeUndefined();
    expect(readPath("$.a[*]")).toBeUndefined();
    expect(readPath("$.^([$")).toBeUndefined();
    const at = (name: string, given: object): unknown => {
      const path = readPath(name);
      return path === undefined ? "unreadable" : valueAt(given as never, path);
    };
    expect(at("$.a[1].b", { a: [0, { b: 2 }] })).toBe(2);
    expect(at("plain", { plain: 1 })).toBe(1);
    expect(at("$.a.b", { a: '{"b": 3}' })).toBe(3);
    expect(at("$.x", {})).toBeNull();
    expect(at("^p\\d$", { p1: 1, p2: 2 })).toEqual([1, 2]);
  });
});
