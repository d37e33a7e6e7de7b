/** What an agent answers. */
import { describe, expect, it } from "vitest";
import { answer, play, done, names } from "./support.js";

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
