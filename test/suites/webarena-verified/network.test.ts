/** What an agent sent. */
import { describe, expect, it } from "vitest";
import { answer, network, play, done, names, type Sent } from "./support.js";

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
