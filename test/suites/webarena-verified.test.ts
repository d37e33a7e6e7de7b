import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  evaluateRun,
  parseHar,
  parseTasks,
  type RunVerdict,
  type WebArenaVerifiedTask,
} from "../../src/suites/index.js";
import { kindNames, type Reading, sameTyped, typed } from "../../src/suites/webarena-verified/kinds.js";
import { readPath, valueAt } from "../../src/suites/webarena-verified/paths.js";
import { Sites } from "../../src/suites/webarena-verified/sites.js";
import { absent, readShared, sharedFile } from "./support.js";

const data = ["data", "webarena-verified"] as const;

interface Published {
  status: string;
  score: number;
  evaluators_results: {
    evaluator_name: string;
    status: string;
    score: number;
    expected: unknown;
    actual_normalized: unknown;
    assertions: { assertion_name: string }[] | null;
  }[];
}

describe.skipIf(absent(...data))("the published task set (skipped where ../shared/data is absent)", () => {
  const tasks = parseTasks(readShared(...data, "webarena-verified.json"));

  it("loads: 812 tasks, each of its own number", () => {
    expect(tasks.size).toBe(812);
    expect(Math.max(...tasks.keys())).toBe(811);
  });

  it("holds every task of the hard subset", () => {
    const { task_ids } = readShared(...data, "webarena-verified-hard.json") as { task_ids: number[] };
    expect(task_ids.filter((id) => !tasks.has(id))).toEqual([]);
  });

  it.each([107, 108])("gives demo run %d the published verdict", (id) => {
    const folder = [...data, "demo", String(id)] as const;
    const published = readShared(...folder, "eval_result.json") as Published;
    const task = tasks.get(id);
    expect(task).toBeDefined();
    const verdict = evaluateRun(task as WebArenaVerifiedTask, {
      response: readFileSync(sharedFile(...folder, "agent_response.json"), "utf8"),
      events: parseHar(readShared(...folder, "network.har")),
    });
    expect(verdict).toMatchObject({ taskId: id, status: published.status, score: published.score });
    expect(
      verdict.evaluators.map((one) => [
        one.evaluator,
        one.status,
        one.score,
        one.expected,
        one.actual,
        one.assertions.map(({ name }) => name),
      ]),
    ).toEqual(
      published.evaluators_results.map((one) => [
        one.evaluator_name,
        one.status,
        one.score,
        one.expected,
        one.actual_normalized,
        (one.assertions ?? []).map(({ assertion_name }) => assertion_name),
      ]),
    );
  });

  it("is satisfied by its own expected answers, wherever it asks for one", () => {
    const unhappy: number[] = [];
    for (const task of tasks.values()) {
      const [first] = task.eval;
      if (first?.evaluator !== "AgentResponseEvaluator") continue;
      // Alternatives stand in lists; the first of each will do.
      const flat = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);
      const retrieved = first.expected.retrieved_data?.map(flat) ?? null;
      const response = JSON.stringify({ ...first.expected, retrieved_data: retrieved });
      const [verdict] = evaluateRun(
        { ...task, eval: [first] },
        { response, events: [] },
        { sites, profile: "strict" },
      ).evaluators;
      if (verdict?.status !== "success") unhappy.push(task.task_id);
    }
    expect(unhappy).toEqual([]);
  });

  it("is never satisfied by saying nothing, nor by the pattern that fits everything", () => {
    const easy: number[] = [];
    for (const task of tasks.values()) {
      const [first] = task.eval;
      if (first?.evaluator !== "AgentResponseEvaluator") continue;
      const count = first.expected.retrieved_data?.length ?? 0;
      const everything = new Array<string>(count).fill("^.*$");
      const said = [
        "",
        JSON.stringify({ task_type: "^.*$", status: "^.*$", retrieved_data: null }),
        ...(count > 0 ? [JSON.stringify({ ...first.expected, retrieved_data: everything })] : []),
      ];
      for (const response of said) {
        const { status } = evaluateRun(
          { ...task, eval: [first] },
          { response, events: [] },
          { sites, profile: "strict" },
        );
        if (status !== "failure") easy.push(task.task_id);
      }
    }
    expect(easy).toEqual([]);
  });
});

const sites = {
  gitlab: ["http://localhost:8023"],
  map: ["http://localhost:3000"],
  reddit: ["http://localhost:9999"],
  shopping_admin: ["http://localhost:7780/admin"],
  shopping: ["http://localhost:7770"],
  wikipedia: ["http://localhost:8888"],
  homepage: ["http://localhost:4399"],
} as const;

const task = (evaluators: unknown[], more: object = {}): unknown => ({
  sites: ["gitlab"],
  task_id: 1,
  intent_template_id: 1,
  start_urls: ["__GITLAB__"],
  intent: "do it",
  intent_template: "do it",
  instantiation_dict: {},
  revision: 1,
  eval: evaluators,
  ...more,
});
const answer = (expected: object, more: object = {}): unknown => ({
  evaluator: "AgentResponseEvaluator",
  results_schema: { type: "null" },
  expected: { task_type: "mutate", status: "SUCCESS", retrieved_data: null, ...expected },
  ...more,
});
const network = (expected: object, more: object = {}): unknown => ({
  evaluator: "NetworkEventEvaluator",
  expected: { url: "__GITLAB__/notes", http_method: "POST", response_status: 200, ...expected },
  ...more,
});

interface Sent {
  url?: string;
  method?: string;
  status?: number;
  headers?: Record<string, string>;
  form?: string;
  json?: unknown;
  received?: unknown;
  cookies?: Record<string, string>;
}

const pairs = (given: Record<string, string> = {}): object[] =>
  Object.entries(given).map(([name, value]) => ({ name, value }));

const entry = ({
  url = "http://localhost:8023/notes",
  method = "POST",
  status = 200,
  ...sent
}: Sent): object => ({
  request: {
    url,
    method,
    headers: pairs(sent.headers),
    ...(sent.form === undefined
      ? {}
      : { postData: { mimeType: "application/x-www-form-urlencoded", text: sent.form } }),
    ...(sent.json === undefined
      ? {}
      : { postData: { mimeType: "application/json", text: JSON.stringify(sent.json) } }),
  },
  response: {
    status,
    headers: [],
    cookies: pairs(sent.cookies),
    ...(sent.received === undefined
      ? {}
      : { content: { mimeType: "application/json", text: JSON.stringify(sent.received) } }),
  },
});

function play(
  evaluators: unknown[],
  response: unknown,
  sent: Sent[] = [],
  profile: "faithful" | "strict" = "faithful",
): RunVerdict {
  const [one] = parseTasks([task(evaluators)]).values();
  return evaluateRun(
    one as WebArenaVerifiedTask,
    {
      response: typeof response === "string" ? response : JSON.stringify(response),
      events: sent.length === 0 ? [] : parseHar({ log: { entries: sent.map(entry) } }),
    },
    { sites, profile },
  );
}

const done = { task_type: "MUTATE", status: "SUCCESS", retrieved_data: null };
const names = ({ evaluators }: RunVerdict): string[] =>
  evaluators.flatMap(({ assertions }) => assertions.map(({ name }) => name));

describe("a response", () => {
  it.each([
    ["plain JSON", JSON.stringify(done)],
    ["a code block", `Here you are:\n\`\`\`json\n${JSON.stringify(done)}\n\`\`\``],
    [
      "the older name of a field",
      JSON.stringify({ performed_operation: "mutate", status: " success ", retrieved_data: null }),
    ],
    ["without the field that is null", JSON.stringify({ task_type: "mutate", status: "SUCCESS" })],
  ])("is read as %s", (_, response) => {
    expect(play([answer({})], response).status).toBe("success");
  });

  it.each([
    ["is missing", "", ["agent_response_none_mismatch"]],
    ["is prose", "done", ["agent_response_invalid_format"]],
    ["has another status", { ...done, status: "UNKNOWN_ERROR" }, ["agent_response.status_mismatch"]],
    ["lacks its status", { task_type: "mutate", retrieved_data: null }, ["agent_response_keys_mismatch"]],
  ])("that %s fails", (_, response, assertions) => {
    const verdict = play([answer({})], response);
    expect(verdict).toMatchObject({ status: "failure", score: 0 });
    expect(names(verdict)).toEqual(assertions);
  });

  const list = (items: object, retrieved_data: unknown[], more: object = {}): unknown =>
    answer({ task_type: "retrieve", retrieved_data }, { results_schema: { type: "array", items }, ...more });
  const retrieved = (retrieved_data: unknown): object => ({
    task_type: "retrieve",
    status: "success",
    retrieved_data,
  });

  it.each([
    ["strings, in any order", { type: "string" }, ["Café-Bar", "x"], ["X.", "cafe  bar"], true],
    ["duplicates count", { type: "string" }, ["a", "a"], ["a", "b"], false],
    ["one more is wrong", { type: "string" }, ["a"], ["a", "b"], false],
    ["alternatives", { type: "string" }, [["a", "b"]], ["b"], true],
    ["a lone value is a list of one", { type: "number" }, [3], "three", true],
    ["numbers with commas", { type: "number" }, [1234], ["1,234"], true],
    ["money within a tenth", { type: "number", format: "currency" }, [45], ["$45.10"], true],
    ["money beyond a tenth", { type: "number", format: "currency" }, [45], ["$45.11"], false],
    ["dates", { type: "string", format: "date" }, ["May 31, 2023"], ["5/31/23"], true],
    ["months", { type: "string", format: "month" }, ["January"], ["01"], true],
    [
      "durations within three minutes",
      { type: "string", format: "duration" },
      ["1hr 44min"],
      ["1:45:30"],
      true,
    ],
    ["distances in other units", { type: "string", format: "distance" }, ["1.2km"], ["0.75 miles"], true],
    [
      "places on earth",
      { format: "coordinates" },
      [{ latitude: "40.4443", longitude: "-79.94889" }],
      ["40.4443, -79.94889"],
      true,
    ],
    [
      "names that are alike",
      { type: "string", format: "location-name" },
      ["Carnegie Mellon University"],
      ["Carnegie Mellon Univ"],
      true,
    ],
    [
      "addresses of repositories",
      { type: "string", format: "url" },
      ["git@__SSH_HOST__:a/B.git"],
      ["ssh://git@localhost:2222/a/b.git"],
      true,
    ],
    ["truth in words", { type: "boolean" }, [true], ["Yes"], true],
    ["true is no 'true' among texts that differ", { type: "string" }, ["no"], [false], false],
  ])("compares %s", (_, items, wanted, given, same) => {
    expect(play([list(items, wanted)], retrieved(given)).status).toBe(same ? "success" : "failure");
  });

  it("keeps the order where the task asks for it", () => {
    const ordered = list({ type: "string" }, ["a", "b"], { ordered: true });
    expect(play([ordered], retrieved(["a", "b"])).status).toBe("success");
    expect(play([ordered], retrieved(["b", "a"])).status).toBe("failure");
  });

  it("compares fields by their own types", () => {
    const items = {
      type: "object",
      properties: { month: { type: "string", format: "month" }, count: { type: "number" } },
    };
    const wanted = [{ month: "May", count: 8 }];
    expect(play([list(items, wanted)], retrieved([{ month: "5", count: "eight" }])).status).toBe("success");
    expect(play([list(items, wanted)], retrieved([{ month: "May", count: 8, note: "x" }])).status).toBe(
      "failure",
    );
  });

  it("with a pattern of its own answers everything where it was published, and nothing when strict", () => {
    const evaluators = [list({ type: "string" }, ["Quest Lumaflex Band"])];
    expect(play(evaluators, retrieved(["^.*$"])).status).toBe("success");
    expect(play(evaluators, retrieved(["^.*$"]), [], "strict").status).toBe("failure");
  });

  it("with a pattern that would take for ever matches nothing, in time", () => {
    const evaluators = [list({ type: "string" }, [`${"a".repeat(40)}b`])];
    expect(play(evaluators, retrieved(["^(a+)+$"])).status).toBe("failure");
  });

  it("of thousands with a comma is a small number where it was published, and a large one when strict", () => {
    const evaluators = [list({ type: "number", format: "currency" }, [1234])];
    expect(play(evaluators, retrieved(["1,234"])).status).toBe("failure");
    expect(play(evaluators, retrieved(["1,234"]), [], "strict").status).toBe("success");
  });

  it("whose status is no text is not graded where it was published, and wrong when strict", () => {
    const response = { ...done, status: null };
    expect(play([answer({})], response)).toMatchObject({ status: "error", score: null });
    expect(play([answer({})], response, [], "strict")).toMatchObject({ status: "failure", score: 0 });
  });

  it("to a task whose own value cannot be read is not graded", () => {
    const evaluators = [list({ type: "string", format: "date" }, ["some day"])];
    const verdict = play(evaluators, retrieved(["some day"]));
    expect(verdict).toMatchObject({ status: "error", score: null });
    expect(verdict.evaluators[0]?.error).toMatch(/some day/);
  });
});

describe("a network event", () => {
  const both = (expected: object, more: object = {}): unknown[] => [answer({}), network(expected, more)];

  it.each([
    ["that fits", {}, {}, {}, true],
    ["with another method", {}, {}, { method: "PUT" }, false],
    ["with another status", {}, {}, { status: 500 }, false],
    ["at another path", {}, {}, { url: "http://localhost:8023/other" }, false],
    ["at another site", {}, {}, { url: "http://elsewhere/notes" }, false],
    ["whose address is spelt otherwise", {}, {}, { url: "HTTP://LOCALHOST:8023/a/../notes/" }, true],
    ["with form fields, others aside", { post_data: { a: "X y" } }, {}, { form: "a=x+Y.&b=2" }, true],
    ["with a wrong form field", { post_data: { a: "x" } }, {}, { form: "a=z" }, false],
    [
      "with a field that must not be there",
      { post_data: { a: "x", b: null } },
      {},
      { form: "a=x&b=1" },
      false,
    ],
    [
      "with nested JSON",
      { post_data: { "$.note.note": "lgtm" } },
      {},
      { json: { note: { note: "LGTM" } } },
      true,
    ],
    [
      "with JSON inside a form",
      { post_data: { "$.note.note": "lgtm" } },
      {},
      { form: `note=${encodeURIComponent('{"note":"lgtm"}')}` },
      true,
    ],
    [
      "with a field named by a pattern",
      { post_data: { "$.^reply_\\d+\\[comment\\]$": "hi" } },
      {},
      { form: "reply_7%5Bcomment%5D=hi" },
      true,
    ],
    [
      "with filtered items",
      { post_data: { "$['m'][?(@.new == 1)].attributes": ["s", "m"] } },
      {
        post_data_schema: {
          type: "object",
          properties: { "$['m'][?(@.new == 1)].attributes": { type: "array", items: { type: "string" } } },
        },
      },
      {
        json: {
          m: [
            { new: 1, attributes: "M" },
            { new: 0, attributes: "l" },
            { new: 1, attributes: "s" },
          ],
        },
      },
      true,
    ],
    [
      "with money in a field",
      { post_data: { price: 27 } },
      { post_data_schema: { type: "object", properties: { price: { type: "number", format: "currency" } } } },
      { form: "price=27.00" },
      true,
    ],
    [
      "that answers",
      { response_content: { star_count: 3 } },
      {},
      { received: { star_count: 3, more: 1 } },
      true,
    ],
    [
      "that answers otherwise",
      { response_content: { star_count: 3 } },
      {},
      { received: { star_count: 4 } },
      false,
    ],
    [
      "that sets a cookie",
      { response_cookies: { msg: "^.*added.*$" } },
      {},
      { cookies: { msg: "was%20Added%20to" } },
      true,
    ],
    ["with a header", { headers: { "X-Kind": "^a.*$" } }, {}, { headers: { "x-kind": "Abc" } }, true],
    ["without the header", { headers: { "X-Kind": "a" } }, {}, {}, false],
    [
      "from a page",
      { headers: { referer: "__GITLAB__/p?x=1" } },
      {},
      { headers: { Referer: "http://localhost:8023/p?x=1" } },
      true,
    ],
    [
      "from a page with another query",
      { headers: { referer: "__GITLAB__/p?x=1" } },
      {},
      { headers: { Referer: "http://localhost:8023/p?x=2" } },
      false,
    ],
    ["at one of several addresses", { url: ["__GITLAB__/a", "__GITLAB__/notes"] }, {}, {}, true],
    ["at an address by pattern", { url: "^__GITLAB__/n\\w+$" }, {}, {}, true],
    [
      "with a query",
      { query_params: { q: ["^a.*$"] } },
      {},
      { url: "http://localhost:8023/notes?q=ABC" },
      true,
    ],
    ["with more of a query", {}, {}, { url: "http://localhost:8023/notes?z=1" }, false],
    [
      "with more of a query that does not count",
      {},
      { ignored_query_params_patterns: ["^z"] },
      { url: "http://localhost:8023/notes?z=1" },
      true,
    ],
    [
      "with a query hidden in its path",
      { query_params: { a: ["1"] } },
      { decode_base64_query: true },
      { url: `http://localhost:8023/notes/${Buffer.from("a=1").toString("base64url")}` },
      true,
    ],
    [
      "with dates in its query",
      { query_params: { from: ["02/1/2023"] } },
      {
        query_params_schema: {
          type: "object",
          properties: { from: { type: "array", items: { type: "string", format: "date" } } },
        },
      },
      { url: "http://localhost:8023/notes?from=2023-02-01" },
      true,
    ],
  ] as const)("%s is told", (_, expected, more, sent, fits) => {
    const verdict = play(both(expected, more), done, [sent]);
    expect(verdict.status).toBe(fits ? "success" : "failure");
    if (!fits) expect(names(verdict)).toEqual(["missing_navigation_event"]);
  });

  it("counts only as the last of its kind, unless any will do", () => {
    const sent = [{ form: "a=x" }, { form: "a=z" }];
    expect(play(both({ post_data: { a: "x" } }), done, sent).status).toBe("failure");
    expect(play(both({ post_data: { a: "x" } }, { last_event_only: false }), done, sent).status).toBe(
      "success",
    );
  });

  it("that must not be there is told", () => {
    const evaluators = both({}, { should_not_exist: true });
    expect(play(evaluators, done).status).toBe("success");
    expect(names(play(evaluators, done, [{}]))).toEqual(["unexpected_navigation_event"]);
  });

  it("of a page to be shown is the last page that was opened", () => {
    const evaluators = [
      answer({ task_type: "navigate" }),
      { evaluator: "NetworkEventEvaluator", expected: { url: "__GITLAB__/end" } },
    ];
    const said = { task_type: "navigate", status: "success", retrieved_data: null };
    const page = (path: string, accept = "text/html"): Sent => ({
      url: `http://localhost:8023${path}`,
      method: "GET",
      headers: { accept },
    });
    expect(
      play(evaluators, said, [page("/start"), page("/end"), page("/api", "application/json")]).status,
    ).toBe("success");
    expect(play(evaluators, said, [page("/end"), page("/start")]).status).toBe("failure");
    expect(play(evaluators, said, [page("/end.css")]).status).toBe("failure");
  });

  it("of a task with one value in a list that is no list is not graded, as published", () => {
    expect(play(both({ post_data: { ids: [1] } }), done, [{ form: "ids=1" }])).toMatchObject({
      status: "error",
      score: null,
    });
  });
});

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
